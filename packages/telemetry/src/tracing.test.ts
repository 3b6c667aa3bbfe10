import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { type Observer, ServiceError } from "@outrigger/core";
import { afterAll, beforeEach, expect, test } from "vitest";
import { recordSpans } from "../test/span-recorder.ts";
import { combineObservers } from "./combine-observers.ts";
import { createMetrics } from "./metrics.ts";
import { createTracing } from "./tracing.ts";

const REQUEST = { kind: "request", method: "GET", route: "/api/images/{id}.png", headers: {} } as const;

// Made before the SDK is registered, as in a host that does so later.
const early = createTracing();
const recorder = recordSpans();
afterAll(() => recorder.close());
beforeEach(() => recorder.reset());

/** A read that finds nothing stored and renders, two things at a time. */
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

test("makes a span per operation, each below the one in which it began", async () => {
  const observer = createTracing({ tracer: recorder.provider.getTracer("test") });
  await observer.observe(
    REQUEST,
    () => readPicture(observer),
    (status) => status,
  );
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

test("describes a request by the conventions of HTTP, and everything by names from fixed lists", async () => {
  const observer = early;
  await observer.observe(
    REQUEST,
    () => readPicture(observer),
    (status) => status,
  );
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

test("continues the trace that the headers name", async () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  await early.observe(
    { ...REQUEST, headers },
    async () => "304",
    (status) => status,
  );
  const request = recorder.span("GET /api/images/{id}.png");
  expect(request.spanContext().traceId).toBe(traceId);
  expect(request.parentSpanContext?.spanId).toBe("b7ad6b7169203331");
});

test("is a part of the host's own span, where there is one, whatever the headers name", async () => {
  const headers = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
  await recorder.provider.getTracer("host").startActiveSpan("GET", async (span) => {
    await early.observe(
      { ...REQUEST, headers },
      async () => "200",
      (status) => status,
    );
    span.end();
  });
  const request = recorder.span("GET /api/images/{id}.png");
  expect(request.parentSpanContext?.spanId).toBe(recorder.span("GET").spanContext().spanId);
  expect(request.kind).toBe(SpanKind.INTERNAL);
});

test("shows what failed by its code, and no message, which may name keys", async () => {
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

test("takes neither a refusal nor a client who left for a failure", async () => {
  await early.observe(
    { ...REQUEST, method: "other" },
    async () => "405",
    (status) => status,
  );
  expect(recorder.span("HTTP /api/images/{id}.png")).toMatchObject({
    status: { code: SpanStatusCode.UNSET },
    attributes: { "http.request.method": "_OTHER", "http.response.status_code": 405 },
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

test("goes together with metrics, and keeps the nesting", async () => {
  const metrics = createMetrics();
  const observer = combineObservers(metrics, early);
  await observer.observe(
    REQUEST,
    () => readPicture(observer),
    (status) => status,
  );
  const request = recorder.span("GET /api/images/{id}.png");
  expect(recorder.span("render png").parentSpanContext?.spanId).toBe(request.spanContext().spanId);
  expect(await metrics.text()).toContain('status="200"} 1\n');
});
