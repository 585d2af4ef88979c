import * as z from "zod/mini";
import { failureClasses, type Made } from "../model.ts";

const shape = z.object({
  commit: z.optional(z.string()),
  reason: z.optional(z.string()),
  failureClass: z.optional(z.enum(failureClasses)),
  isUnfinished: z.optional(z.boolean()),
});

/** Parses a turn's result; `undefined` if there is none or it is invalid: a copied job can contain any text. */
export function parseMade(text: string | null): Made | undefined {
  try {
    return shape.parse(JSON.parse(text ?? ""));
  } catch {
    return undefined;
  }
}
