import type { Observer } from "@outrigger/core";
import * as client from "prom-client";
import { expect, test } from "vitest";
import { samplesOf } from "../test/metric-samples.ts";
import { combineObservers } from "./combine-observers.ts";
import { createMetrics } from "./metrics.ts";

test("combineObservers runs the work once, inside all observers, and reports its outcome to each", async () => {
  const all = [createMetrics({ client }), createMetrics({ client })];
  const observer = combineObservers(...all);
  let runs = 0;
  const work = async () => ++runs;
  const operation = { kind: "store", role: "records", method: "get" } as const;
  expect(await observer.observe(operation, work, () => "missing")).toBe(1);
  observer.served("store");
  const stop = observer.gauge("jobs_waiting", () => 5);
  for (const metrics of all) {
    const found = samplesOf(await metrics.text());
    expect(found.get('outrigger_store_operations_total{role="records",method="get",outcome="missing"}')).toBe(
      1,
    );
    expect(found.get('outrigger_served_total{from="store"}')).toBe(1);
    expect(found.get("outrigger_jobs_waiting")).toBe(5);
  }
  stop();
  for (const metrics of all) expect(samplesOf(await metrics.text()).get("outrigger_jobs_waiting")).toBe(0);
});

test("a combined observer reports answered requests to all, and only if all can receive them", () => {
  const seen: string[] = [];
  const observing: Observer = {
    observe: (_operation, work) => work(),
    served: () => {},
    gauge: () => () => {},
  };
  const answering = (name: string): Observer => ({
    ...observing,
    answered: ({ status }) => seen.push(`${name} ${status}`),
  });
  expect(combineObservers(answering("a"), observing).answered).toBeUndefined();
  const operation = { kind: "request", method: "GET", route: "/{id}", headers: {} } as const;
  const request = { operation, status: "200", from: "memory", startedAt: 0 } as const;
  combineObservers(answering("a"), answering("b")).answered?.(request);
  expect(seen).toEqual(["a 200", "b 200"]);
});
