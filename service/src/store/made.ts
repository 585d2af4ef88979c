import * as z from "zod/mini";
import { failureClasses, type Made } from "../model.ts";

const shape = z.object({
  commit: z.optional(z.string()),
  reason: z.optional(z.string()),
  failureClass: z.optional(z.enum(failureClasses)),
  isUnfinished: z.optional(z.boolean()),
});

/** Returns what a turn has made; `undefined` if it has not, or that is not understood: the copy of a job can have any text. */
export function parseMade(text: string | null): Made | undefined {
  try {
    return shape.parse(JSON.parse(text ?? ""));
  } catch {
    return undefined;
  }
}
