import { setImmediate } from "node:timers/promises";
import type { Html } from "./html.ts";

/** How long rendering holds up other requests at a time. */
const sliceMs = 5;

/** Joins the parts of a page that a generator renders. Lets other requests run between them. */
export async function renderInSlices(parts: Iterable<string | Html>): Promise<Buffer> {
  const rendered: Buffer[] = [];
  let text = "";
  let start = performance.now();
  for (const part of parts) {
    text += String(part);
    if (performance.now() - start < sliceMs) continue;
    rendered.push(Buffer.from(text));
    text = "";
    await setImmediate();
    start = performance.now();
  }
  return Buffer.concat([...rendered, Buffer.from(text)]);
}
