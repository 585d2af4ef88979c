import { expect, test } from "vitest";
import {
  isPublicAddress,
  lookUpPublic,
  mayBePublic,
  publicLookup,
} from "../../../../src/agents/network/public-address.ts";

test.each([
  ...[
    "0.0.0.0",
    "10.1.2.3",
    "100.100.100.200",
    "127.0.0.1",
    "127.9.9.9",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
  ],
  ...["192.168.0.1", "192.0.0.192", "198.18.0.1", "224.0.0.1", "255.255.255.255"],
  ...[
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "fc00::1",
    "fd00:ec2::254",
  ],
  ...["fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "2002:7f00:1::1", "64:ff9b::7f00:1", "64:ff9b::127.0.0.1"],
  ...["64:ff9b:1::1", "not an address", ""],
])("%s is no public address", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  ...["203.0.113.80", "192.0.2.1", "198.51.100.1", "8.8.8.8", "172.32.0.1", "100.128.0.1"],
  ...["2001:db8::1", "2606:4700::1", "64:ff9b::808:808", "::ffff:8.8.8.8"],
])("%s is a public address", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  "localhost",
  "LOCALHOST.",
  "a.localhost",
  "metadata",
  "metadata.google.internal",
  "printer.local",
  "127.0.0.1",
  "10.0.0.1",
])("%s is refused by its name", (host) => {
  expect(mayBePublic(host)).toBe(false);
});

test("a name that resolves to the machine is refused, however an address is written", async () => {
  const resolve = (host: string) =>
    new Promise((done) => lookUpPublic(host, {}, (error, address) => done(error?.message ?? address)));
  for (const host of ["localhost", "127.1", "0x7f000001", "2130706433"])
    expect(await resolve(host)).toBe(`${host} is in a private network`);
  const all = new Promise((done) => lookUpPublic("203.0.113.80", { all: true }, (_error, found) => done(found)));
  expect(await all).toEqual([{ address: "203.0.113.80", family: 4 }]);
});

const [ours, theirs, metadata] = ["203.0.113.80", "2001:db8::1", "169.254.169.254"];
test.each([
  [[ours], ours],
  [[ours, theirs], ours],
  [[theirs, ours], theirs],
  [[metadata], "name.example is in a private network"],
  [[ours, metadata], "name.example is in a private network"],
  [[metadata, ours], "name.example is in a private network"],
  [[ours, "::ffff:169.254.169.254"], "name.example is in a private network"],
  [[], "name.example has no address"],
])("a name with the addresses %j is reached only if all are public", async (addresses, reached) => {
  const lookup = publicLookup((_host, _options, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    ),
  );
  const found = new Promise((done) => lookup("name.example", {}, (error, address) => done(error?.message ?? address)));
  expect(await found).toBe(reached);
});
