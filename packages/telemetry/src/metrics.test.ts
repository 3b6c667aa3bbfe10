import { readFile } from "node:fs/promises";
import { type Observer, ServiceError } from "@outrigger/core";
import * as successor from "@prometheus-io/client";
import * as promClient from "prom-client";
import { describe, expect, test } from "vitest";
import { samplesOf, seriesOf } from "../test/metric-samples.ts";
import { createMetrics, type Metrics } from "./metrics.ts";

const REQUEST = { kind: "request", method: "GET", route: "/{id}", headers: {} } as const;
const STATUS = (status: string) => status;

async function samples(metrics: Metrics): Promise<Map<string, number>> {
  return samplesOf(await metrics.text());
}

async function fail(observer: Observer, error: unknown): Promise<void> {
  const work = () => Promise.reject(error);
  await expect(observer.observe({ kind: "admit", type: "image/png" }, work)).rejects.toBe(error);
}

describe.each([
  ["prom-client", promClient],
  ["@prometheus-io/client", successor],
] as const)("with %s", (_, given) => {
  // Both have what the test calls.
  const client = given as typeof promClient;
  test("metrics count requests by method, route and status, and return the result of the work", async () => {
    const metrics = createMetrics({ client });
    for (const status of ["200", "404", "200", "next"]) {
      expect(await metrics.observe(REQUEST, async () => status, STATUS)).toBe(status);
    }
    const found = await samples(metrics);
    expect(found.get('outrigger_requests_total{method="GET",route="/{id}",status="200"}')).toBe(2);
    expect(found.get('outrigger_requests_total{method="GET",route="/{id}",status="404"}')).toBe(1);
    expect(found.get('outrigger_requests_total{method="GET",route="/{id}",status="next"}')).toBe(1);
    expect(found.get('outrigger_request_duration_seconds_count{method="GET",route="/{id}"}')).toBe(4);
  });

  test("metrics record the duration from start to end in seconds", async () => {
    const metrics = createMetrics({ client });
    const waited = performance.now();
    await metrics.observe({ kind: "sweep" }, () => new Promise((resolve) => setTimeout(resolve, 30)));
    const mostSeconds = (performance.now() - waited) / 1000;
    const found = await samples(metrics);
    const seconds = found.get("outrigger_sweep_duration_seconds_sum") ?? 0;
    expect(seconds).toBeGreaterThan(0.02);
    expect(seconds).toBeLessThanOrEqual(mostSeconds);
    expect(found.get('outrigger_sweep_duration_seconds_bucket{le="0.01"}')).toBe(0);
    expect(found.get('outrigger_sweep_duration_seconds_bucket{le="+Inf"}')).toBe(1);
    expect(found.get('outrigger_sweeps_total{outcome="ok"}')).toBe(1);
  });

  test("metrics label admissions by type, renders by type and format, and store calls by role and method", async () => {
    const metrics = createMetrics({ client });
    const done = async () => null;
    await metrics.observe({ kind: "admit", type: "image/png" }, done);
    await metrics.observe({ kind: "render", type: "application/pdf", format: "webp" }, done);
    await metrics.observe({ kind: "store", role: "records", method: "get" }, done, () => "missing");
    const found = await samples(metrics);
    expect(found.get('outrigger_admissions_total{type="image/png",outcome="ok"}')).toBe(1);
    expect(found.get('outrigger_admission_duration_seconds_count{type="image/png"}')).toBe(1);
    expect(found.get('outrigger_renders_total{type="application/pdf",format="webp",outcome="ok"}')).toBe(1);
    expect(found.get('outrigger_render_duration_seconds_count{type="application/pdf",format="webp"}')).toBe(
      1,
    );
    expect(found.get('outrigger_store_operations_total{role="records",method="get",outcome="missing"}')).toBe(
      1,
    );
    expect(found.get('outrigger_store_duration_seconds_count{role="records",method="get"}')).toBe(1);
  });

  test("metrics label a failure with its code, as aborted, or as error", async () => {
    const metrics = createMetrics({ client });
    await fail(metrics, new ServiceError("overloaded", "Come back later."));
    await fail(metrics, new DOMException("left", "AbortError"));
    await fail(metrics, new Error("unexpected"));
    await fail(metrics, "thrown as a text");
    const found = await samples(metrics);
    expect(found.get('outrigger_admissions_total{type="image/png",outcome="overloaded"}')).toBe(1);
    expect(found.get('outrigger_admissions_total{type="image/png",outcome="aborted"}')).toBe(1);
    expect(found.get('outrigger_admissions_total{type="image/png",outcome="error"}')).toBe(2);
  });

  test("metrics read gauges on collection, add up those with the same name, and omit gauges without a reader", async () => {
    const metrics = createMetrics({ client });
    let waiting = 1;
    const read = () => waiting;
    const stop = metrics.gauge("renders_waiting", read);
    metrics.gauge("renders_waiting", read);
    waiting = 4;
    expect((await samples(metrics)).get("outrigger_renders_waiting")).toBe(8);
    stop();
    stop();
    expect((await samples(metrics)).get("outrigger_renders_waiting")).toBe(4);
    expect(seriesOf(await samples(metrics), "outrigger_jobs_waiting")).toEqual([]);
  });

  test("metrics use the host's registry, which takes those of one service", async () => {
    const registry = new client.Registry();
    new client.Gauge({ name: "app_users", help: "The host's own.", registers: [registry] }).set(7);
    const first = createMetrics({ client, registry });
    first.served("memory");
    expect(first.contentType).toBe(registry.contentType);
    const found = await samples(first);
    expect(found.get("app_users")).toBe(7);
    expect(found.get('outrigger_served_total{from="memory"}')).toBe(1);
    expect(() => createMetrics({ client, registry })).toThrow(/already been registered/);
  });

  test("metrics count a request that was answered at once like an observed one", async () => {
    const metrics = createMetrics({ client });
    const startedAt = performance.now() - 30;
    metrics.answered?.({ operation: REQUEST, status: "200", from: "memory", startedAt });
    metrics.answered?.({ operation: REQUEST, status: "304", from: null, startedAt });
    const found = await samples(metrics);
    expect(found.get('outrigger_requests_total{method="GET",route="/{id}",status="200"}')).toBe(1);
    expect(found.get('outrigger_requests_total{method="GET",route="/{id}",status="304"}')).toBe(1);
    expect(found.get('outrigger_served_total{from="memory"}')).toBe(1);
    expect(found.get('outrigger_request_duration_seconds_sum{method="GET",route="/{id}"}')).toBeGreaterThan(
      0.06,
    );
  });
});

test("the recommended alert counts failures and errors of the host, and no refusal with 501", async () => {
  const guide = await readFile(new URL("../../../docs/operating.md", import.meta.url), "utf8");
  const [, matchers = ""] = /failures +\| `sum\(rate\(outrigger_requests_total\{(.*?)\}/.exec(guide) ?? [];
  const read = [...matchers.replaceAll("\\|", "|").matchAll(/status(=~|!=)"(.*?)"(?:,|$)/g)];
  expect(read.map(([each]) => each).join("")).toBe(matchers.replaceAll("\\|", "|"));
  const isCounted = (status: string) =>
    read.every(([, operator, value = ""]) =>
      operator === "!=" ? status !== value : new RegExp(`^(?:${value})$`).test(status),
    );
  const statuses = ["200", "404", "429", "next", "500", "501", "503", "error"];
  expect(statuses.filter(isCounted)).toEqual(["500", "503", "error"]);
});
