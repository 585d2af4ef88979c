/** The modes that `pg` alone would treat as `verify-full`. */
const weakerModes = ["prefer", "require", "verify-ca"];

/** Returns a URL for `pg` that means the same as for `psql`: `sslmode=require` encrypts without checking the certificate. */
export function connectionString(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!weakerModes.includes(parsed?.searchParams.get("sslmode") ?? "")) return url;
  parsed?.searchParams.set("uselibpqcompat", "true");
  return parsed?.href ?? url;
}
