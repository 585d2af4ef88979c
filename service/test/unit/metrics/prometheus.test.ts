import { expect, test } from "vitest";
import { PrometheusMetrics } from "../../../src/metrics/prometheus.ts";
import type { Census } from "../../../src/model.ts";
import { FakeMachine } from "../../support/fake-machine.ts";

const census: Census = {
  jobs: { active: 3, completed: 5, failed: 2, archived: 40 },
  turns: { waiting: 2, running: 1 },
  takeableTurns: 4,
  oldestWaitingSeconds: 12.5,
  expiredLeases: 6,
};

/** Returns the samples of the service, without buckets. */
async function samples(metrics: PrometheusMetrics, of: Census | undefined = census): Promise<string[]> {
  const lines = (await metrics.render(of)).split("\n");
  return lines.filter((line) => line.startsWith("agent_service_") && !line.includes("_bucket{"));
}

test("has what the store has, and only while it can be read", async () => {
  const metrics = new PrometheusMetrics();
  const ofStore = [
    'agent_service_jobs{state="active"} 3',
    'agent_service_jobs{state="completed"} 5',
    'agent_service_jobs{state="failed"} 2',
    'agent_service_jobs{state="archived"} 40',
    'agent_service_turns{state="waiting"} 2',
    'agent_service_turns{state="running"} 1',
    "agent_service_takeable_turns 4",
    "agent_service_wanted_places 5",
    "agent_service_oldest_waiting_turn_age_seconds 12.5",
    "agent_service_expired_leases 6",
  ];
  expect(await samples(metrics)).toEqual(expect.arrayContaining([...ofStore, "agent_service_store_up 1"]));
  metrics.storeOutageBegan();
  const without = await metrics.render(undefined);
  expect(without).toContain("\nagent_service_store_up 0\n");
  expect(without).toContain("\nagent_service_store_outages_total 1\n");
  expect(without).not.toMatch(/^agent_service_(jobs|turns|oldest)/m);
  expect(await samples(metrics)).toEqual(expect.arrayContaining(ofStore));
});

test("has what was measured on the disk, and nothing before", async () => {
  const metrics = new PrometheusMetrics();
  expect((await samples(metrics)).filter((line) => /_bytes/.test(line))).toEqual([]);
  const clones = [{ repository: "https://github.com/acme/docs", bytes: 5 }];
  metrics.diskMeasured({ clones, worktreeBytes: 1, homeBytes: 2, logBytes: 3, freeBytes: 4 });
  expect(await samples(metrics)).toEqual(
    expect.arrayContaining([
      'agent_service_clone_bytes{repository="https://github.com/acme/docs"} 5',
      'agent_service_files_bytes{kind="worktrees"} 1',
      'agent_service_files_bytes{kind="homes"} 2',
      'agent_service_files_bytes{kind="logs"} 3',
      "agent_service_disk_free_bytes 4",
    ]),
  );
});

test("times turns, and counts those that run", async () => {
  const machine = new FakeMachine();
  const metrics = new PrometheusMetrics(machine);
  const [first, second] = [metrics.turnStarted(), metrics.turnStarted()];
  machine.pass(90_000);
  first("completed");
  expect(await samples(metrics)).toEqual(
    expect.arrayContaining([
      "agent_service_worker_running_turns 1",
      'agent_service_turn_duration_seconds_sum{result="completed"} 90',
      'agent_service_turn_duration_seconds_count{result="completed"} 1',
    ]),
  );
  const text = await metrics.render(census);
  expect(text).toContain('agent_service_turn_duration_seconds_bucket{le="60",result="completed"} 0');
  expect(text).toContain('agent_service_turn_duration_seconds_bucket{le="120",result="completed"} 1');
  second("failed");
  expect(await samples(metrics)).toContain("agent_service_worker_running_turns 0");
});

test("counts the ends of agents, creates and messages, and requests", async () => {
  const metrics = new PrometheusMetrics();
  for (const exit of ["memory-limit", "completed", "completed"] as const) metrics.agentExited(exit);
  metrics.promptAnswered("create", "accepted");
  metrics.promptAnswered("message", "rate-limited");
  metrics.requestAnswered({ method: "GET", route: "/pull/{number}", status: 404, seconds: 0.25 });
  expect(await samples(metrics)).toEqual(
    expect.arrayContaining([
      'agent_service_agent_exits_total{result="memory-limit"} 1',
      'agent_service_agent_exits_total{result="completed"} 2',
      'agent_service_prompts_total{kind="create",result="accepted"} 1',
      'agent_service_prompts_total{kind="message",result="rate-limited"} 1',
      'agent_service_http_requests_total{method="GET",route="/pull/{number}",status="404"} 1',
      'agent_service_http_request_duration_seconds_sum{method="GET",route="/pull/{number}"} 0.25',
    ]),
  );
});

test("knows GitHub's rate limit once GitHub has named it, and keeps it if a response does not", async () => {
  const metrics = new PrometheusMetrics();
  expect((await samples(metrics)).join("\n")).not.toContain("rate_limit");
  metrics.gitHubAnswered({ status: 201, remaining: 4999, resetAt: 1_800_000_000 });
  metrics.gitHubAnswered({ status: undefined, remaining: undefined, resetAt: undefined });
  expect(await samples(metrics)).toEqual(
    expect.arrayContaining([
      'agent_service_github_requests_total{status="2xx"} 1',
      'agent_service_github_requests_total{status="none"} 1',
      "agent_service_github_rate_limit_remaining 4999",
      "agent_service_github_rate_limit_reset_timestamp_seconds 1800000000",
    ]),
  );
});

test("has the numbers of the process, and a help text for each metric", async () => {
  const text = await new PrometheusMetrics().render(census);
  expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
  for (const [, name] of text.matchAll(/^# TYPE (\S+)/gm)) expect(text).toMatch(new RegExp(`^# HELP ${name} \\S`, "m"));
});

test("sums up what agents cost, and counts those that do not say it", async () => {
  const metrics = new PrometheusMetrics();
  for (const costUsd of [0.5, undefined, 0.25, undefined])
    metrics.agentCost({ project: "docs", agent: "claude", costUsd });
  metrics.agentCost({ project: "blog", agent: "codex", costUsd: undefined });
  expect((await samples(metrics)).filter((line) => line.includes("cost"))).toEqual([
    'agent_service_agent_cost_usd_total{project="docs",agent="claude"} 0.75',
    'agent_service_agent_unknown_costs_total{project="docs",agent="claude"} 2',
    'agent_service_agent_unknown_costs_total{project="blog",agent="codex"} 1',
  ]);
});
