import { expect, test } from "vitest";
import { seccompFilter } from "../../../../src/agents/sandbox/seccomp-filter.ts";

const [x64, arm64] = [0xc000003e, 0xc00000b7];

/** Runs a filter as the kernel does. Returns 0 if the call is allowed, or the error. */
function run(filter: Buffer | undefined, architecture: number, call: number, argument = 0): number {
  const words = new Map([
    [0, call],
    [4, architecture],
    [16, argument],
  ]);
  let accumulator = 0;
  for (let position = 0; filter !== undefined; position += 8) {
    const [code, value] = [filter.readUInt16LE(position), filter.readUInt32LE(position + 4)];
    const skip = (isTrue: boolean) => 8 * filter.readUInt8(position + (isTrue ? 2 : 3));
    if (code === 0x20) accumulator = words.get(value) ?? Number.NaN;
    else if (code === 0x15) position += skip(accumulator === value);
    else if (code === 0x35) position += skip(accumulator >= value);
    else if (code === 0x45) position += skip((accumulator & value) !== 0);
    else if (code === 0x06) return value === 0x7fff0000 ? 0 : value - 0x50000;
    else throw new Error(`unknown instruction ${code}`);
  }
  return Number.NaN;
}

const [permission, missing, family] = [1, 38, 97];
const newUser = 0x10000000;

test.each<[string, number, Record<string, number>]>([
  ["x64", x64, { read: 0, execve: 59, socket: 41, clone: 56, clone3: 435, unshare: 272, keyctl: 250, uring: 425 }],
  [
    "arm64",
    arm64,
    { read: 63, execve: 221, socket: 198, clone: 220, clone3: 435, unshare: 97, keyctl: 219, uring: 425 },
  ],
])("on %s, only what is dangerous is denied", (name, architecture, calls) => {
  const of = (call: string, argument?: number) =>
    run(seccompFilter(name), architecture, calls[call] ?? Number.NaN, argument);
  for (const call of ["read", "execve"]) expect(of(call)).toBe(0);
  for (const call of ["keyctl", "uring"]) expect(of(call)).toBe(permission);
  // A program that gets this error uses clone.
  expect(of("clone3")).toBe(missing);
  // A new process, and a new thread.
  for (const flags of [17, 0x3d0f00]) expect(of("clone", flags)).toBe(0);
  expect(of("clone", newUser | 17)).toBe(permission);
  expect(of("unshare", 0x20000)).toBe(0);
  expect(of("unshare", newUser | 0x20000)).toBe(permission);
  for (const one of [1, 2, 10, 16]) expect(of("socket", one)).toBe(0);
  for (const one of [17, 38, 40]) expect(of("socket", one)).toBe(family);
  // The same numbers mean other calls there.
  expect(run(seccompFilter(name), 0x40000003, 0)).toBe(missing);
});

test("calls of x32, which have other numbers, are denied", () => {
  expect(run(seccompFilter("x64"), x64, 0x40000000 + 250)).toBe(missing);
});

test("there is none for other processors", () => {
  expect(seccompFilter("riscv64")).toBeUndefined();
});
