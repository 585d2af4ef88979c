import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import { createSandbox } from "../../../src/agents/sandbox/create-sandbox.ts";
import { seccompFilter } from "../../../src/agents/sandbox/seccomp-filter.ts";
import { ownFile } from "../../../src/own-file.ts";
import { docsRepository, runJob, startAgentService } from "../../support/agent-service.ts";
import { findObstacle } from "../../support/sandbox-obstacle.ts";
import { skipFor } from "../../support/skip-for.ts";

const bash = "/bin/bash";

test.skipIf(process.platform !== "linux" || !existsSync(bash))(
  "an agent inherits no descriptor that was open when the service started",
  () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "secret"), "secret of the operator");
    writeFileSync(join(folder, "filter"), "the filter");
    const run = (inherited: string | undefined, agent: string) => {
      const settings = { stdoutFile: join(folder, "stdout"), inherited };
      const supervisor = [ownFile("agents/supervisor.ts"), JSON.stringify(settings)];
      const command = `exec 100<secret 20<secret; exec "$@"`;
      const args = ["-c", command, "bash", process.execPath, ...supervisor, "/bin/sh", "-c", agent];
      execFileSync(bash, args, { cwd: folder, stdio: "pipe" });
      return readFileSync(join(folder, "stdout"), "utf8");
    };
    // The last one is the one with which ls reads the folder.
    expect(run(undefined, "ls /proc/self/fd")).toBe("0\n1\n2\n3\n");
    expect(run(join(folder, "filter"), "cat <&3; echo; ls /proc/self/fd")).toBe("the filter\n0\n1\n2\n3\n4\n");
  },
);

const perl = "/usr/bin/perl";
const obstacle =
  (await findObstacle("bwrap")) ??
  skipFor(seccompFilter(process.arch) === undefined ? "no filter for this processor" : undefined) ??
  skipFor(spawnSync(perl, ["-e", "1"]).status === 0 ? undefined : "no perl");

describe.skipIf(obstacle !== undefined)(`in a sandbox${obstacle ? `, skipped: ${obstacle}` : ""}`, () => {
  /** Numbers of `keyctl`, `add_key`, `unshare` and `io_uring_setup`. */
  const calls = process.arch === "arm64" ? [219, 217, 97, 425] : [250, 248, 272, 425];

  test("an agent reaches no keyring, vsock, user namespace or io_uring, and ordinary programs work", async () => {
    const sandbox = await createSandbox("bwrap", temporaryFolder(), true, () => {});
    const script = `
      my ($keyctl, $add, $unshare, $uring) = (${calls});
      my ($t, $d) = ("user", "x");
      sub result { my ($name, $value) = @_; print "$name ", ($value == -1 ? $! + 0 : "done"), "\\n"; }
      result("keyctl", syscall($keyctl, 0, -3, 1));
      result("add_key", syscall($add, $t, $d, $d, 1, -3));
      result("unshare", syscall($unshare, 0x10000000));
      result("io_uring", syscall($uring, 1, 0));
      print "vsock ", (socket(my $v, 40, 1, 0) ? "done" : $! + 0), "\\n";
      print "inet ", (socket(my $i, 2, 1, 0) ? "done" : $! + 0), "\\n";
      print "keys ", (open(my $k, "<", "/proc/keys") && <$k> ? "read" : "hidden"), "\\n";
    `;
    const agent = shellAgent(`cat > a.pl <<'END'\n${script}\nEND\n${perl} a.pl > out.txt; git status > git.txt`);
    const docs = docsRepository();
    await using service = await startAgentService(docs, { agent, sandbox });
    const { id } = await runJob(service, "Go on");
    const lines = docs.read(`agent/${id}`, "out.txt").split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        "keyctl 1",
        "add_key 1",
        "unshare 1",
        "io_uring 1",
        "vsock 97",
        "inet done",
        "keys hidden",
      ]),
    );
    expect(docs.read(`agent/${id}`, "git.txt")).toContain("On branch");
  });
});
