import { expect, test } from "vitest";
import { GitError, saysRemoteOutage } from "../../../src/git/git.ts";

test.each([
  "fatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com",
  "fatal: unable to access 'https://github.com/a/b/': Failed to connect to github.com port 443 after 3 ms: Couldn't connect to server",
  "fatal: unable to access 'https://github.com/a/b/': The requested URL returned error: 503",
  "error: RPC failed; HTTP 502 curl 22 The requested URL returned error: 502\nsend-pack: unexpected disconnect while reading sideband packet",
  "fatal: unable to access 'https://github.com/a/b/': Operation too slow. Less than 1 bytes/sec transferred the last 60 seconds",
  "ssh: connect to host github.com port 22: Connection refused\nfatal: Could not read from remote repository.",
  "remote: Internal Server Error",
])("a host that cannot be reached is no reason to fail: %s", (stderr) => {
  expect(saysRemoteOutage("push", stderr)).toBe(true);
  expect(new GitError(["fetch"], "exited with 128", stderr, 128).isRemoteOutage).toBe(true);
  expect(saysRemoteOutage("add", stderr)).toBe(false);
});

test.each([
  "remote: Permission to a/b.git denied to c.\nfatal: unable to access 'https://github.com/a/b/': The requested URL returned error: 403",
  "remote: Invalid username or password.\nfatal: Authentication failed for 'https://github.com/a/b/'",
  "git@github.com: Permission denied (publickey).\nConnection closed by remote host",
  "fatal: '/srv/gone.git' does not appear to be a git repository",
  "! [rejected] agent/a -> agent/a (stale info)",
  "! [remote rejected] agent/a -> agent/a (pre-receive hook declined)",
])("what a retry does not change is: %s", (stderr) => {
  expect(new GitError(["push"], "exited with 128", stderr, 128).isDenied).toBe(/^remote:/.test(stderr));
  expect(saysRemoteOutage("push", stderr)).toBe(false);
});
