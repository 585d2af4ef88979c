// Pins every use of this action in the examples and docs to a release: `uses: …@COMMIT # VERSION`. Prints the files that it changes.
// Usage: node pin-uses.mjs VERSION COMMIT [FOLDER]
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [version = "", commit = "", root = "."] = process.argv.slice(2);
if (!/^v\d+\.\d+\.\d+$/.test(version) || !/^[0-9a-f]{40}$/.test(commit)) {
  console.error("Usage: node pin-uses.mjs vX.Y.Z COMMIT [FOLDER], with all 40 digits of the commit");
  process.exit(1);
}
const uses = /^(\s*(?:- )?uses: [\w.-]+\/agent-job-action)@\S+(?: # v\S+)?$/gm;
for (const folder of ["", "docs", "examples", "service", "service/docs"]) {
  const files = existsSync(join(root, folder)) ? readdirSync(join(root, folder)) : [];
  for (const file of files.filter((name) => /\.(md|yml)$/.test(name))) {
    const path = join(root, folder, file);
    const text = readFileSync(path, "utf8");
    const pinned = text.replace(uses, `$1@${commit} # ${version}`);
    if (pinned === text) continue;
    writeFileSync(path, pinned);
    console.log(join(folder, file));
  }
}
