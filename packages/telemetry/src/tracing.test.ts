import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { type Observer, ServiceError } from "@outrigger/core";
import * as client from "prom-client";
import { afterAll, beforeEach, expect, test } from "vitest";
import { recordSpans } from "../test/span-recorder.ts";
import { combineObservers } from "./combine-observers.ts";
import { createMetrics } from "./metrics.ts";
import { createTracing } from "./tracing.ts";

const REQUEST = { kind: "request", method: "GET", route: "/api/images/{id}.png", headers: {} } as const;

// Created before the SDK is registered, as in a host that registers it later.
const early = createTracing();
const recorder = recordSpans();
afterAll(() => recorder.close());
beforeEach(() => recorder.reset());

/** Observes a request that ends with the status of `work`. */
const send = (work: () => Promise<string>, more: object = {}, observer: Observer = early) =>
  observer.observe({ ...REQUEST, ...more }, work, (status) => status);

/** A read that finds no stored rendition and renders; it makes two store calls at once. */
async function readPicture(observer: Observer): Promise<string> {
  await observer.observe({ kind: "store", role: "records", method: "get" }, async () => null);
  await Promise.all([
    observer.observe(
      { kind: "store", role: "renditions", method: "stat" },
      async () => null,
      () => "missing",
    ),
    observer.observe({ kind: "render", type: "image/gif", format: "png" }, async () => {
      await observer.observe({ kind: "store", role: "originals", method: "get" }, async () => null);
    }),
  ]);
  observer.served("render");
  return "200";
}

test("tracing creates a span per operation, as a child of the operation that started it", async () => {
  const observer = createTracing({ tracer: recorder.provider.getTracer("test") });
  await send(() => readPicture(observer), {}, observer);
  const request = recorder.span("GET /api/images/{id}.png");
  const parents = ["records.get", "renditions.stat", "render png", "originals.get"].map(
    (name) => recorder.span(name).parentSpanContext?.spanId,
  );
  const requestId = request.spanContext().spanId;
  expect(parents).toEqual([
    requestId,
    requestId,
    requestId,
    recorder.span("render png").spanContext().spanId,
  ]);
  expect(request.parentSpanContext).toBeUndefined();
  expect(recorder.spans()).toHaveLength(5);
  expect(new Set(recorder.spans().map((span) => span.spanContext().traceId)).size).toBe(1);
});

test("tracing describes a request by the conventions of HTTP, with names from fixed lists only", async () => {
  const observer = early;
  await send(() => readPicture(observer), {}, observer);
  const request = recorder.span("GET /api/images/{id}.png");
  expect(request.kind).toBe(SpanKind.SERVER);
  expect(request.status.code).toBe(SpanStatusCode.UNSET);
  expect(request.attributes).toEqual({
    "http.request.method": "GET",
    "http.route": "/api/images/{id}.png",
    "http.response.status_code": 200,
    "outrigger.served_from": "render",
  });
  const render = recorder.span("render png");
  expect(render.kind).toBe(SpanKind.INTERNAL);
  expect(render.attributes).toEqual({
    "outrigger.type": "image/gif",
    "outrigger.format": "png",
    "outrigger.outcome": "ok",
  });
  expect(recorder.span("renditions.stat").attributes).toEqual({ "outrigger.outcome": "missing" });
});

test("tracing continues the trace in the request's headers", async () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  await send(async () => "304", { headers });
  const request = recorder.span("GET /api/images/{id}.png");
  expect(request.spanContext().traceId).toBe(traceId);
  expect(request.parentSpanContext?.spanId).toBe("b7ad6b7169203331");
});

test("tracing makes the request a child of the host's active span and ignores the headers then", async () => {
  const headers = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
  await recorder.provider.getTracer("host").startActiveSpan("GET", async (span) => {
    await send(async () => "200", { headers });
    span.end();
  });
  const request = recorder.span("GET /api/images/{id}.png");
  expect(request.parentSpanContext?.spanId).toBe(recorder.span("GET").spanContext().spanId);
  expect(request.kind).toBe(SpanKind.INTERNAL);
});

test("tracing records a failure by its code and omits the message, which may contain keys", async () => {
  const failure = new ServiceError("store_unavailable", "The bytes of AbCd/original went away");
  const get = { kind: "store", role: "originals", method: "get" } as const;
  const work = () => early.observe(get, () => Promise.reject(failure)).catch(() => "503");
  await early.observe(REQUEST, work, (status) => status);
  const store = recorder.span("originals.get");
  expect(store.status).toEqual({ code: SpanStatusCode.ERROR, message: "store_unavailable" });
  expect(store.attributes).toEqual({
    "error.type": "store_unavailable",
    "outrigger.outcome": "store_unavailable",
  });
  expect(store.events).toEqual([]);
  const request = recorder.span("GET /api/images/{id}.png");
  expect(request.status.code).toBe(SpanStatusCode.ERROR);
  expect(request.attributes).toMatchObject({ "http.response.status_code": 503, "error.type": "503" });
});

test("tracing marks neither a refusal, with 501 too, nor a disconnected client as an error", async () => {
  await send(async () => "405", { method: "other" });
  expect(recorder.span("HTTP /api/images/{id}.png")).toMatchObject({
    status: { code: SpanStatusCode.UNSET },
    attributes: { "http.request.method": "_OTHER", "http.response.status_code": 405 },
  });
  await send(async () => "501", { route: "/v2/leads/*" });
  expect(recorder.span("GET /v2/leads/*")).toMatchObject({
    status: { code: SpanStatusCode.UNSET },
    attributes: { "http.response.status_code": 501 },
  });
  const left = new DOMException("left", "AbortError");
  await expect(early.observe({ kind: "admit", type: "image/png" }, () => Promise.reject(left))).rejects.toBe(
    left,
  );
  expect(recorder.span("admit")).toMatchObject({
    status: { code: SpanStatusCode.UNSET },
    attributes: { "outrigger.type": "image/png", "outrigger.outcome": "aborted" },
  });
});

test("tracing combined with metrics keeps the nesting of spans", async () => {
  const metrics = createMetrics({ client });
  const observer = combineObservers(metrics, early);
  await send(() => readPicture(observer), {}, observer);
  const request = recorder.span("GET /api/images/{id}.png");
  expect(recorder.span("render png").parentSpanContext?.spanId).toBe(request.spanContext().spanId);
  expect(await metrics.text()).toContain('status="200"} 1\n');
});

test("tracing describes a request that was answered at once like an observed one, with the time when it began", () => {
  const startedAt = performance.now() - 30;
  early.answered?.({ operation: REQUEST, status: "200", from: "memory", startedAt });
  const request = recorder.span("GET /api/images/{id}.png");
  expect(request.kind).toBe(SpanKind.SERVER);
  expect(request.attributes).toEqual({
    "http.request.method": "GET",
    "http.route": "/api/images/{id}.png",
    "http.response.status_code": 200,
    "outrigger.served_from": "memory",
  });
  const [seconds, nanoseconds] = request.duration;
  expect(seconds * 1000 + nanoseconds / 1e6).toBeGreaterThan(25);
});
