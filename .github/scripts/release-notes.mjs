// Prints the changelog's entries for the version in a tag. Fails if package.json has another version, or if the changelog
// has no dated heading for it.
import { readFileSync } from "node:fs";

const tag = process.argv[2] ?? "";
const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const sections = readFileSync("CHANGELOG.md", "utf8").split(/^## /m).slice(1);
const section = sections.find((text) => text.startsWith(`[${version}]`)) ?? "";
const [heading = "", ...notes] = section.trim().split("\n");

const error =
  tag !== `v${version}`
    ? `The tag is ${tag}, but package.json has version ${version}.`
    : !/^\[[^\]]+\] - \d{4}-\d\d-\d\d$/.test(heading)
      ? `CHANGELOG.md has no heading "## [${version}] - YYYY-MM-DD".`
      : "";
if (error) {
  console.error(error);
  process.exitCode = 1;
} else console.log(notes.join("\n").trim());
