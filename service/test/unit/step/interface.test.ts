import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../../../test/support/metadata.ts";

test("every title of an annotation is on the page of own agents", () => {
  const page = readFileSync(resolve(root, "service/docs/own-agent.md"), "utf8").replace(/\s+/g, " ");
  const files = globSync("service/step/**/*.ts", { cwd: root });
  const sources = files.map((file) => readFileSync(resolve(root, file), "utf8")).join("\n");
  const titles = [...sources.matchAll(/(?:SetupError\(|"warning",|: \[)\s*"([A-Z][^"]+)"/g)].map(([, title]) => title);
  expect(titles.length).toBeGreaterThan(11);
  for (const title of titles) expect(page).toContain(title);
});
