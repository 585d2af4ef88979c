import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../../../test/support/metadata.ts";
import { PrometheusMetrics } from "../../../src/metrics/prometheus.ts";

test.each(["prometheus-alerts.yml", "grafana-dashboard.json", "kubernetes.yaml"])(
  "%s names only metrics that the service has",
  async (file) => {
    const text = readFileSync(resolve(root, "service/deploy", file), "utf8");
    const names = [...new Set(text.match(/\bagent_service_\w+/g))];
    expect(names.length).toBeGreaterThan(0);
    const metrics = await new PrometheusMetrics().render(undefined);
    const known = [...metrics.matchAll(/^# TYPE (\w+) (\w+)/gm)].flatMap(([, name = "", type]) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    );
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
  },
);
