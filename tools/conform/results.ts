import type { Answer, NoAnswer } from "./connection.ts";
import { type RequirementId, requirements } from "./requirements.ts";

export type Result = { kind: "met" } | { kind: "failed"; seen: string } | { kind: "unchecked"; why: string };

/** The results by requirement. A requirement fails if one of its checks does. */
export class Results {
  readonly #results = new Map<RequirementId, Result>();

  met(id: RequirementId): void {
    if (this.#results.get(id)?.kind !== "failed") this.#results.set(id, { kind: "met" });
  }

  failed(id: RequirementId, seen: string): void {
    if (this.#results.get(id)?.kind !== "failed") this.#results.set(id, { kind: "failed", seen });
  }

  /** Records what a check has found: nothing if the requirement is met. */
  check(id: RequirementId, fault: string | undefined): boolean {
    if (fault === undefined) this.met(id);
    else this.failed(id, fault);
    return fault === undefined;
  }

  unchecked(ids: readonly RequirementId[], why: string): void {
    for (const id of ids) if (!this.#results.has(id)) this.#results.set(id, { kind: "unchecked", why });
  }

  count(kind: Result["kind"]): number {
    return [...this.#results.values()].filter((result) => result.kind === kind).length;
  }

  /** How many requirements were not looked at. */
  get rest(): number {
    return Object.keys(requirements).length - this.#results.size;
  }

  /** The failed requirements. */
  get failures(): RequirementId[] {
    return [...this.#results].flatMap(([id, { kind }]) => (kind === "failed" ? [id] : []));
  }

  /** Returns a line or more for each requirement that was checked or says why not, in their order. */
  lines(): string[] {
    return (Object.keys(requirements) as RequirementId[]).flatMap((id) => {
      const result = this.#results.get(id);
      const { text, section } = requirements[id];
      if (result === undefined) return [];
      if (result.kind === "met") return [`ok           ${text}.`];
      if (result.kind === "unchecked") return [`not checked  ${text}: ${result.why}.`];
      return [`FAILED       ${text}.`, `             Seen: ${result.seen}. See docs/protocol.md#${section}`];
    });
  }
}

/** The most of a body that is shown. */
const shownCharacters = 300;

/** Describes an answer on one line. The text is the service's, so control characters are escaped for the terminal. */
export function describe(answer: Answer | NoAnswer): string {
  if ("error" in answer) return printable(answer.error);
  const body = answer.text.length > shownCharacters ? `${answer.text.slice(0, shownCharacters)}…` : answer.text;
  return printable(`HTTP ${answer.status} ${body === "" ? "without a body" : body}`);
}

export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
