import type { Identity } from "../model.ts";
import type { CommitSettings } from "../pulls/committers.ts";

interface CommitInput {
  commitAs?: string | undefined;
  signOff?: boolean | undefined;
  trailers?: readonly string[] | undefined;
  titlePrefix?: string | undefined;
}

/** No line break, nothing invisible. */
const plain = String.raw`[^<>\p{C}\p{Zl}\p{Zp}]`;
const oneLine = new RegExp(`^${plain}{1,40}$`, "u");
const identity = new RegExp(String.raw`^(?!\s)(${plain}+?)\s*<([^\s<>@\p{C}]+@[^\s<>@\p{C}]+)>$`, "u");
/** Git's documentation, "git-interpret-trailers". */
const trailer = /^([A-Za-z0-9][A-Za-z0-9-]*): [^\s\p{C}][^\p{C}\p{Zl}\p{Zp}]*$/u;

/**
 * Reads what the operator wants of commits.
 *
 * @param hasToken - whether the repository is on GitHub, and its token is known
 * @throws with what is wrong as the message
 */
export function readCommitOptions(
  { commitAs, signOff = false, trailers = [], titlePrefix = "" }: CommitInput,
  hasToken: boolean,
): Required<CommitSettings> {
  if (signOff && commitAs === undefined && !hasToken)
    throw new Error("--sign-off requires --commit-as, or the token of a bot on GitHub.");
  for (const text of trailers) {
    const key = trailer.exec(text)?.[1];
    if (key === undefined) throw new Error(`--trailer must be "KEY: VALUE" in one line, not ${JSON.stringify(text)}.`);
    if (/^agent-/i.test(key)) throw new Error(`--trailer ${key} is taken: trailers of the service begin with Agent-.`);
  }
  if (titlePrefix !== "" && !oneLine.test(titlePrefix))
    throw new Error(`--title-prefix must be 1 to 40 characters in one line, not ${JSON.stringify(titlePrefix)}.`);
  return {
    titlePrefix,
    commitAs: commitAs === undefined ? undefined : readIdentity(commitAs),
    signsOff: signOff,
    trailers,
  };
}

function readIdentity(text: string): Identity {
  const [, name, email] = identity.exec(text) ?? [];
  if (name === undefined || email === undefined)
    throw new Error(`--commit-as must be "NAME <EMAIL>", not ${JSON.stringify(text)}.`);
  return { name, email };
}
