import type { Toolkit } from "../../src/action/runner/toolkit.ts";

export interface Annotation {
  level: "notice" | "warning" | "error";
  title: string;
  text: string;
}

/** A runner that records everything the action sends it. */
export class FakeToolkit implements Toolkit {
  readonly outputs: Record<string, string> = {};
  readonly masks: string[] = [];
  readonly lines: string[] = [];
  /** The lines that were printed while workflow commands were stopped. */
  readonly linesWithoutCommands: string[] = [];
  readonly annotations: Annotation[] = [];
  /** Lines, annotations, groups, outputs and masks in the order they were sent. */
  readonly events: string[] = [];
  summary = "";
  readonly #inputs: Readonly<Record<string, string>>;

  constructor(inputs: Readonly<Record<string, string>>) {
    this.#inputs = inputs;
  }

  input(name: string): string {
    return this.#inputs[name] ?? "";
  }

  setOutput(name: string, value: string): void {
    this.outputs[name] = value;
    this.events.push(`output ${name}=${value}`);
  }

  mask(secret: string): void {
    this.masks.push(secret);
    this.events.push("mask");
  }

  info(line: string): void {
    this.lines.push(line);
    this.events.push(line);
  }

  infoWithoutCommands(line: string): void {
    this.linesWithoutCommands.push(line);
    this.info(line);
  }

  debug(line: string): void {
    this.events.push(`debug ${line}`);
  }

  annotate(level: Annotation["level"], title: string, text: string): void {
    this.annotations.push({ level, title, text });
    this.events.push(`${level} ${title}: ${text}`);
  }

  startGroup(title: string): void {
    this.events.push(`group ${title}`);
  }

  endGroup(): void {
    this.events.push("endgroup");
  }

  async writeSummary(markdown: string): Promise<void> {
    this.summary += markdown;
  }
}
