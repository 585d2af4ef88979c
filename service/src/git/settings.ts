import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { gitEnvironment } from "./git-environment.ts";

/** A setting of Git: its name and value. */
export type Setting = readonly [name: string, value: string];

/** Returns settings as they are now: a token in them can be replaced while the service runs. */
export type Settings = () => readonly Setting[];

/**
 * Settings of the operator that Git may need to reach the repository. All others are ignored: filters, hooks and drivers
 * would run programs on files of an agent.
 */
const needed =
  /^(?:credential|http|url|protocol|ssh|transfer)\.|^core\.(?:sshcommand|gitproxy|askpass)$|^safe\.directory$/;

/**
 * Returns the operator's settings that Git may need to reach the repository.
 *
 * @param list - what `git config --list --show-scope -z` printed
 */
export function parseOperatorSettings(list: string): Setting[] {
  const fields = list.split("\0");
  const settings: Setting[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [name = "", ...lines] = (fields[index + 1] ?? "").split("\n");
    // A name without a value means true.
    const value = lines.length === 0 ? "true" : lines.join("\n");
    if (["system", "global"].includes(fields[index] ?? "") && needed.test(name)) settings.push([name, value]);
  }
  return settings;
}

/**
 * Returns the settings above that Git has on this machine for a repository now. They are read once, before an agent runs:
 * in `~/.gitconfig`, an agent without a sandbox could change them.
 */
export async function readOperatorSettings(repository: string): Promise<Setting[]> {
  const env = { ...gitEnvironment(), GIT_DIR: repository };
  const { stdout } = await promisify(execFile)("git", ["config", "--list", "--show-scope", "-z"], { env });
  return parseOperatorSettings(stdout);
}

/** Returns the variables that give settings to Git. Unlike arguments, they are hidden from other users of the machine. */
export function settingVariables(settings: readonly Setting[]): Record<string, string> {
  return Object.fromEntries([
    ["GIT_CONFIG_COUNT", String(settings.length)],
    ...settings.flatMap(([name, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, name],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]);
}

const isAuthorization = ([name, value]: Setting): boolean =>
  /^http\.(?:.*\.)?extraheader$/i.test(name) && /^\s*authorization\s*:/i.test(value);

/** Git asks no program for credentials then. Unlike its setting, this also goes for a program that the environment names. */
export const asksNobody = { GIT_ASKPASS: "" };

/**
 * Returns the operator's settings with a repository's. If these have credentials, nothing else authenticates requests to it: GitHub
 * rejects a second header, and another account could do what the given one may not.
 *
 * @param url - of the repository: settings for a longer part of it would win
 */
export function withGiven(operator: readonly Setting[], given: readonly Setting[], url: string): Setting[] {
  const credentials = given.filter(isAuthorization);
  if (credentials.length === 0) return [...operator, ...given];
  return [
    ...operator.filter((setting) => !isAuthorization(setting)),
    ...credentials.map(([, value]): Setting => [`http.${url}.extraheader`, value]),
    // An empty one removes those before it, which a path can be part of.
    [`credential.${new URL(url).origin}.helper`, ""],
    [`credential.${url}.helper`, ""],
    // They are as long as they can be, so no other one applies.
    [`url.${url}.insteadOf`, url],
    [`url.${url}.pushInsteadOf`, url],
  ];
}
