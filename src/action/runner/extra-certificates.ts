import { existsSync } from "node:fs";

/**
 * Returns the file of certificates that Node was told to trust but cannot find, and so ignores; `undefined` if there is none.
 * Node's documentation: "NODE_EXTRA_CA_CERTS".
 */
export function missingCertificates({ NODE_EXTRA_CA_CERTS: file = "" }: NodeJS.ProcessEnv): string | undefined {
  return file === "" || existsSync(file) ? undefined : file;
}
