import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { Cgroups } from "../../../src/agents/cgroups.ts";

/** Writes what the kernel shows of a group of the service. Nothing there limits anything. */
function setUp({ controllers = "cpu memory pids", isDelegated = true, group = "/system.slice/agents.service" } = {}) {
  const root = temporaryFolder();
  const folder = join(root, group);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(root, "cgroup.controllers"), controllers);
  if (isDelegated) writeFileSync(join(folder, "cgroup.type"), "domain\n");
  for (const [name, text] of Object.entries({
    "cgroup.controllers": controllers,
    "cgroup.procs": "",
    "cgroup.subtree_control": "",
  }))
    writeFileSync(join(folder, name), text);
  const ownGroup = join(root, "own");
  writeFileSync(ownGroup, `1:name=systemd:/\n0::${group}\n`);
  const read = (...names: string[]) => readFileSync(join(folder, ...names), "utf8");
  return { folder, read, open: () => Cgroups.open({ root, ownGroup }) };
}

test("limits the memory and the processes of each agent in a group of its own, within the one of the service", async () => {
  const { folder, read, open } = setUp();
  const cgroups = await open();
  expect(read("cgroup.subtree_control")).toBe("+memory +pids");
  // The kernel makes this file.
  mkdirSync(join(folder, "agent-job_1"));
  writeFileSync(join(folder, "agent-job_1/pids.max"), "max");
  const group = cgroups.create("job_1", { memoryMb: 100, processes: 50 });
  expect(read("agent-job_1", "pids.max")).toBe("50");
  // 64 MB are for the supervisor.
  expect(read("agent-job_1", "memory.max")).toBe(String(164 * 1024 * 1024));
  expect(read("agent-job_1", "memory.oom.group")).toBe("1");
  group.add(4321);
  expect(read("agent-job_1", "cgroup.procs")).toBe("4321");
  const events = (text: string) => writeFileSync(join(folder, "agent-job_1/memory.events"), text);
  events("low 0\nmax 5\noom 0\noom_kill 0\n");
  expect(group.hadTooLittleMemory).toBe(false);
  events("low 0\nmax 5\noom 1\noom_kill 3\n");
  expect(group.hadTooLittleMemory).toBe(true);
  // As the kernel does when a group is removed.
  for (const name of ["memory.max", "memory.oom.group", "memory.events", "pids.max", "cgroup.procs"])
    rmSync(join(folder, "agent-job_1", name));
  await group[Symbol.asyncDispose]();
  expect(existsSync(join(folder, "agent-job_1"))).toBe(false);
});

test("lets no agent swap, and kills what is left in its group", async () => {
  const { folder, read, open } = setUp();
  const group = join(folder, "agent-job_1");
  mkdirSync(group);
  // The kernel makes these files, if it can.
  for (const name of ["memory.swap.max", "cgroup.kill"]) writeFileSync(join(group, name), "");
  const limited = (await open()).create("job_1", { memoryMb: 100 });
  expect(read("agent-job_1", "memory.swap.max")).toBe("0");
  const removing = limited[Symbol.asyncDispose]();
  expect(read("agent-job_1", "cgroup.kill")).toBe("1");
  rmSync(group, { recursive: true });
  mkdirSync(group);
  await removing;
  expect(existsSync(group)).toBe(false);
});

test("moves the service's own processes away first", async () => {
  const { folder, read, open } = setUp();
  // The kernel empties the one file when the other is written. Here it tries again until it gives up.
  writeFileSync(join(folder, "cgroup.procs"), "17\n18\n");
  await open();
  expect(read("service", "cgroup.procs")).toBe("18");
});

test("of a service that runs in the group for itself already, the one around it is used", async () => {
  const { folder, open } = setUp({ group: "/agents.service/service" });
  writeFileSync(join(folder, "../cgroup.type"), "domain\n");
  for (const [name, text] of Object.entries({ "cgroup.controllers": "memory", "cgroup.procs": "" }))
    writeFileSync(join(folder, "..", name), text);
  (await open()).create("a", { memoryMb: 1, processes: 50 });
  expect(readFileSync(join(folder, "../cgroup.subtree_control"), "utf8")).toBe("+memory");
  expect(existsSync(join(folder, "../agent-a/memory.max"))).toBe(true);
});

test.each([
  ["has no memory controller", { controllers: "cpu pids" }, "has no memory controller"],
  ["is the machine's own", { isDelegated: false, group: "/" }, "no cgroup of its own"],
])("is not possible if the group %s", async (_name, options, message) => {
  await expect(setUp(options).open()).rejects.toThrow(message);
});

test("is not possible without cgroup v2", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "own"), "4:memory:/a\n");
  await expect(Cgroups.open({ root: folder, ownGroup: join(folder, "own") })).rejects.toThrow("cgroup v2");
});
