import type { IncomingMessage } from "node:http";
import * as z from "zod/mini";
import type { BodyReader } from "../http/body-reader.ts";
import { HttpException } from "../http/http-exception.ts";
import type { PromptContext } from "../model.ts";
import { isSession } from "./idempotency-key.ts";

/** The body of a create or message. */
export interface PromptBody {
  prompt: string;
  /** Only of a create, and only beyond the specification. */
  base: string | undefined;
  /** The same. */
  session: string | undefined;
  /** Beyond the specification. */
  context: PromptContext;
}

const link = z.string().check(z.regex(/^https?:\/\/[^\s\p{C}]{1,2000}$/u));
const askedShape = z.object({
  by: z.optional(z.string().check(z.regex(/^[^\p{C}]{1,100}$/u))),
  in: z.optional(link),
  run: z.optional(link),
});

/** Who asked: a login, the address of the issue or pull request, and the workflow run's. Untrusted. */
export type Asked = z.infer<typeof askedShape>;

/** What can come with a prompt, and what is said of a body that has something else. */
const fields = {
  sections: [z.array(z.string()), "sections must be a list of strings"],
  asked: [askedShape, "asked must be an object with by, in and run: a name and two addresses"],
  covers: [z.string().check(z.regex(/^\+?[0-9a-f]{40,64}$/)), "covers must be the full id of a commit"],
} as const;

/**
 * Reads the body: `{ "prompt": <string that is not blank>, "base"?: <non-empty string>, "session"?: <string> }`, with what else the protocol
 * names. Specification: "Request body".
 */
export async function readBody(request: IncomingMessage, bodies: BodyReader): Promise<PromptBody> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "")) {
    throw new HttpException(400, "Content-Type must be application/json");
  }
  const body = fieldsOf(await bodies.read(request));
  const { prompt, base, session } = body;
  if (typeof prompt !== "string" || prompt.trim() === "")
    throw new HttpException(400, "prompt must be a string that is not blank");
  if (base !== undefined && (typeof base !== "string" || base === ""))
    throw new HttpException(400, "base must be a non-empty string");
  if (session !== undefined && !isSession(session))
    throw new HttpException(400, "session must have 1 to 128 letters, digits, - and _");
  return { prompt, base, session, context: contextOf(body) };
}

function contextOf(body: Fields): PromptContext {
  const read = <T>([shape, otherwise]: readonly [z.ZodMiniType<T>, string], value: unknown): T | undefined => {
    if (value === undefined) return undefined;
    const { success, data } = shape.safeParse(value);
    if (!success) throw new HttpException(400, otherwise);
    return data;
  };
  const asked = read(fields.asked, body.asked);
  return {
    sections: (read(fields.sections, body.sections) ?? []).filter((text) => text.trim() !== "").join("\n\n"),
    asked: asked === undefined ? null : JSON.stringify(asked),
    covers: read(fields.covers, body.covers) ?? null,
    ...(asked?.by !== undefined && { asker: asked.by }),
  };
}

type Fields = Readonly<Partial<Record<"prompt" | "base" | "session" | keyof typeof fields, unknown>>>;

function fieldsOf(body: string): Fields {
  try {
    return (JSON.parse(body) as Fields | null) ?? {};
  } catch {
    throw new HttpException(400, "Request body is not valid JSON");
  }
}
