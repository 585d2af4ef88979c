import coerce from "semver/functions/coerce.js";
import compare from "semver/functions/compare.js";

/**
 * Returns the tag of the version before `tag`, among tags with the same words before the number, such as `v` or `package@`. A
 * release is never compared with a prerelease.
 */
export function previousVersion(tag: string, tags: readonly string[]): string | undefined {
  const own = parseTag(tag);
  if (!own) return undefined;
  const isStable = own.version.prerelease.length === 0;
  return tags
    .flatMap((each) => parseTag(each) ?? [])
    .filter(({ prefix, version }) => {
      const isComparable = prefix === own.prefix && !(isStable && version.prerelease.length > 0);
      return isComparable && compare(version, own.version) < 0;
    })
    .reduce<ReturnType<typeof parseTag>>(
      (newest, each) => (newest && compare(newest.version, each.version) >= 0 ? newest : each),
      undefined,
    )?.tag;
}

function parseTag(tag: string) {
  const [, prefix = "", number = ""] = /^(.*?)(\d+(?:\.\d+)*(?:[-+].*)?)$/.exec(tag) ?? [];
  const version = coerce(number, { includePrerelease: true });
  return version ? { tag, prefix, version } : undefined;
}
