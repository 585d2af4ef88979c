import { expect, test } from "vitest";
import {
  isResourceExhausted,
  ResourceExhausted,
  saysResourceExhausted,
} from "../../../src/processes/resource-exhausted.ts";

const failure = (code: unknown) => Object.assign(new Error("x"), { code });

test("an error says by its code that the machine lacks something for now", () => {
  for (const code of ["EMFILE", "ENFILE", "EAGAIN", "ENOMEM", "ENOSPC", "EDQUOT"])
    expect(isResourceExhausted(failure(code)), code).toBe(true);
  expect(isResourceExhausted(new ResourceExhausted("x"))).toBe(true);
  for (const other of [failure("ENOENT"), failure(1), new Error("ENOSPC"), { code: "ENOSPC" }, "ENOSPC", undefined])
    expect(isResourceExhausted(other)).toBe(false);
});

test.each([
  "error: cannot update ref 'refs/heads/a': couldn't write '/clone/refs/heads/a.lock'",
  "fatal: sha1 file '/clone/index.lock' write error. Out of diskspace",
  "error: failed to write new configuration file /clone/config.lock",
  "fatal: cannot write: No space left on device",
  "fatal: cannot write: Disk quota exceeded",
  "fatal: cannot open: Too many open files",
  "fatal: mmap failed: Cannot allocate memory",
  "fatal: Out of memory, malloc failed",
  "fatal: out of memory",
  "error: cannot fork to run git-remote-https",
  "fatal: unable to fork",
  "fatal: unable to create threaded lstat: Resource temporarily unavailable",
  "sh: fork: Resource temporarily unavailable",
  "sh: fork: retry: Resource temporarily unavailable",
])("%j says so, too", (output) => {
  expect(saysResourceExhausted(`remote: counting\n${output}\n`)).toBe(true);
});

test.each([
  "",
  "fatal: couldn't find remote ref main",
  "fatal: unable to create thread: Operation not permitted",
  "ssh: connect to host example.com: Resource temporarily unavailable",
  "fatal: repository 'x' not found",
])("%j does not", (output) => {
  expect(saysResourceExhausted(output)).toBe(false);
});
