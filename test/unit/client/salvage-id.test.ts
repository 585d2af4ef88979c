import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { salvageId } from "../../../src/client/salvage-id.ts";

const salvage = (body: string) => salvageId(body, (text) => text);

describe("finds the top-level id", () => {
  test.each([
    ["in an object that lacks other fields", '{"id":"job_7"}', "job_7"],
    ["as the last member before the cut", '{"status":"active","id":"job_7"', "job_7"],
    ["as the first member", ' {\n "id" : "job_7" , "sta', "job_7"],
    ["between other members", '{"status":"active","id":"job_7","model":"m', "job_7"],
    ["after a nested object", '{"source":{"id":"no","x":[{"id":"no"}]},"id":"job_7",', "job_7"],
    ["after a string that looks like it", '{"model":"\\"id\\":\\"no\\",","id":"job_7"', "job_7"],
    ["with escapes in key and value", '{"i\\u0064":"job\\u005f7"', "job_7"],
    ["in front of trailing text", '{"id":"job_7","status":"active"} trailing', "job_7"],
    ["if it is repeated, by its last value", '{"id":7,"id":"job_7"}', "job_7"],
  ])("%s", (_name, body, id) => {
    expect(salvage(body)).toBe(id);
  });
});

describe("finds nothing", () => {
  test.each([
    ["in an id that was cut off", '{"id":"job_'],
    ["in a nested object", '{"source":{"id":"no"},"status":"active"'],
    ["in a list", '[{"id":"no"}]'],
    ["in a string", '"\\"id\\":\\"no\\""'],
    ["in an id that is not a string", '{"id":7}'],
    ["if the last value of a repeated id is not a string", '{"id":"no","id":{"x":"y"'],
    ["in a value that equals the key", '{"x":"id","y":"no"'],
    ["in an id with an invalid escape", '{"id":"\\q"}'],
    ["in an id with a line break", '{"id":"a\\nb"}'],
    ["in an id with a control character of C1", '{"id":"job_1\\u009b31m","status":"act'],
    ["in an empty id", '{"id":""'],
    ["in an object without members", "{"],
    ["in an id that is a path", '{"id":".."}'],
    ["outside an object", '"id":"no"'],
    ["in strings without punctuation", '{"id" "no" "no"}'],
    ["in a web page", '<html><a id="no">'],
    ["in nothing", ""],
  ])("%s", (_name, body) => {
    expect(salvage(body)).toBeUndefined();
  });
});

test("redacts the id", () => {
  expect(salvageId('{"id":"job_secret"', (text) => text.replace("secret", "***"))).toBe("job_***");
});

test("finds the id in every record, and no other string wherever it is cut off", () => {
  const members = fc.dictionary(
    fc.string().filter((name) => name !== "id"),
    fc.jsonValue(),
  );
  const id = fc.stringMatching(/^[\w-]{1,9}$/);
  fc.assert(
    fc.property(members, id, members, fc.double({ min: 0, max: 1, noNaN: true }), (before, id, after, share) => {
      const text = JSON.stringify({ ...before, id, ...after });
      expect(salvage(text)).toBe(id);
      expect([id, undefined]).toContain(salvage(text.slice(0, Math.floor(share * text.length))));
    }),
  );
});
