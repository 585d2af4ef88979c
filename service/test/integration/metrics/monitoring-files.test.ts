import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { isInPath } from "../../../../src/runner-kit/agent-service.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { skipFor } from "../../support/skip-for.ts";

const deploy = resolve(import.meta.dirname, "../../../deploy");
const alertsFile = join(deploy, "prometheus-alerts.yml");
const alerts = parse(readFileSync(alertsFile, "utf8")) as { groups: { rules: { alert: string; expr: string }[] }[] };
const dashboard = JSON.parse(readFileSync(join(deploy, "grafana-dashboard.json"), "utf8")) as {
  panels: { title: string; targets: { expr: string }[] }[];
};
const rules = alerts.groups.flatMap((group) => group.rules);
const queries = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }): [string, string] => [title, expr])),
];
// Debian has it in the package prometheus.
const obstacle = skipFor(isInPath("promtool", process.env.PATH ?? "") ? undefined : "promtool is missing");

test.skipIf(obstacle !== undefined)(
  "the alerts and the dashboard are what Prometheus understands, and the alerts fire",
  () => {
    const folder = temporaryFolder();
    // What Grafana fills in.
    const filled = (query: string) => query.replaceAll("$__rate_interval", "5m").replaceAll("$job", "agent-service");
    const recorded = queries.map(([, query], index) => ({ record: `query_${index}`, expr: filled(query) }));
    const file = join(folder, "queries.yml");
    writeFileSync(file, stringify({ groups: [{ name: "queries", rules: recorded }] }));
    execFileSync("promtool", ["check", "rules", file, alertsFile]);
    const series = (name: string, values: string) => ({ series: `${name}`, values });
    const fires = (alertname: string, eval_time: string, input: object[], labels: Record<string, string> = {}) => ({
      interval: "1m",
      input_series: input,
      alert_rule_test: [{ eval_time, alertname, exp_alerts: [{ exp_labels: { job: "agent-service", ...labels } }] }],
    });
    const job = 'job="agent-service"';
    const turns = (result: string) => `agent_service_turn_duration_seconds_count{${job},result="${result}"}`;
    const requests = (status: string) => `agent_service_http_requests_total{${job},status="${status}"}`;
    const cases = [
      fires("AgentServiceDown", "6m", [series(`up{${job},instance="a"}`, "0x10")], { instance: "a" }),
      fires("AgentServiceStoreDown", "3m", [series(`agent_service_store_up{${job}}`, "0x10")]),
      fires("AgentServiceDiskLow", "9m", [series(`agent_service_disk_free_bytes{${job},instance="a"}`, "9e8x20")], {
        instance: "a",
      }),
      fires("AgentServiceTurnsWait", "20m", [
        series(`agent_service_oldest_waiting_turn_age_seconds{${job}}`, "0+60x30"),
      ]),
      fires("AgentServiceNoWorker", "10m", [
        series(`agent_service_takeable_turns{${job}}`, "2x20"),
        series(`agent_service_worker_places{${job}}`, "0x20"),
      ]),
      fires("AgentServiceLeasesExpired", "10m", [series(`agent_service_expired_leases{${job}}`, "1x20")]),
      fires(
        "AgentServiceProblem",
        "10m",
        ["github", "leases"].map((name) =>
          series(`agent_service_problem_since_timestamp_seconds{${job},problem="${name}",instance="a"}`, "60x20"),
        ),
        { problem: "github" },
      ),
      fires("AgentServiceLeasesLost", "30m", [series(turns("taken-over"), "0+1x30")]),
      fires("AgentServiceOutcomeUnknown", "30m", [
        series(`agent_service_prompts_total{${job},kind="create",result="unknown"}`, "0x20 1x20"),
      ]),
      fires("AgentServiceTurnsFail", "60m", [series(turns("failed"), "0+1x60"), series(turns("completed"), "0x60")]),
      fires("AgentServiceTurnsPostponed", "40m", [series(turns("postponed"), "0+1x60")]),
      fires("AgentServiceErrors", "30m", [series(requests("503"), "0+1x60"), series(requests("200"), "0+9x60")]),
      fires("AgentServiceGitHubLimit", "3m", [
        series(`agent_service_github_rate_limit_remaining{${job}}`, "5000 50x10"),
      ]),
      fires(
        "AgentServiceCost",
        "1d",
        [series(`agent_service_agent_cost_usd_total{${job},project="docs"}`, "0+1x2000")],
        {
          project: "docs",
        },
      ),
    ];
    expect(cases).toHaveLength(rules.length);
    const tests = join(folder, "tests.yml");
    const critical = ["AgentServiceDown", "AgentServiceStoreDown", "AgentServiceNoWorker"];
    for (const {
      alert_rule_test: [rule],
    } of cases) {
      const labels = rule?.exp_alerts[0]?.exp_labels as Record<string, string>;
      labels.severity = critical.includes(rule?.alertname ?? "") ? "critical" : "warning";
    }
    // Their texts are not compared.
    const withoutTexts = join(folder, "alerts.yml");
    writeFileSync(withoutTexts, readFileSync(alertsFile, "utf8").replace(/^ +annotations:\n(?: {10}.*\n)+/gm, ""));
    writeFileSync(tests, stringify({ rule_files: [withoutTexts], tests: cases }));
    execFileSync("promtool", ["test", "rules", tests]);
  },
);
