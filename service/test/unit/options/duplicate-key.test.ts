import { expect, test } from "vitest";
import { duplicateKey } from "../../../src/options/config-file.ts";

test.each([
  ['{"projects":{"docs":{},"docs":{}}}', "projects.docs"],
  ['{"projects":{"docs":{"agent":"a","base":"b","agent":"c"}}}', "projects.docs.agent"],
  ['{"a":[{"b":1},{"b":2,"b":3}]}', "a.b"],
  ['{"a":1,"\\u0061":2}', "a"],
])("%s has %s twice", (json, path) => {
  expect(duplicateKey(json)).toBe(path);
});

test.each([
  '{"a":{"b":1},"c":{"b":1}}',
  '[{"a":1},{"a":1}]',
  '{"a":"{\\"a\\":1}","b":"a","c":["a","a"]}',
  '{"a":"x\\\\","b": "y"}',
  "1",
])("%s has no key twice", (json) => {
  expect(duplicateKey(json)).toBeUndefined();
});
