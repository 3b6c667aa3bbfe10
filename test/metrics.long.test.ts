import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFsBlobStore, createImages } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import { nodeListener } from "@outrigger/node";
import { createTracing } from "@outrigger/telemetry";
import { describe, expect, it } from "vitest";
import {
  jpeg,
  serve,
  temporaryDirectory,
  type Uploaded,
  upload,
} from "../packages/server/test/outrigger-process.ts";
import { samplesOf, seriesOf } from "../packages/telemetry/test/metric-samples.ts";
import { recordSpans } from "../packages/telemetry/test/span-recorder.ts";
import { serveHost } from "./support/listen.ts";

const NAME = "holiday-by-the-sea";
const UNKNOWN_ID = "AbCdEfGhIjKlMnOpQrSt_-";

/** The command with metrics on a free port. */
async function serveWithMetrics() {
  const cwd = await temporaryDirectory();
  const config = { metrics: { port: 0 }, images: { rateLimits: false, asyncAfterMs: false } };
  await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify(config));
  const server = serve(cwd);
  const url = await server.url;
  await server.logged('"msg":"metrics"');
  const metricsUrl = /"url":"([^"]+\/metrics)"/.exec(server.output.stderr)?.[1] ?? "";
  const metrics = async () => (await fetch(metricsUrl)).text();
  return { server, url, metricsUrl, metrics };
}

async function get(url: string, init: RequestInit = {}): Promise<number> {
  const response = await fetch(url, init);
  await response.arrayBuffer();
  return response.status;
}

async function uploadNamed(url: string): Promise<Uploaded> {
  const response = await upload(url, await jpeg(), { name: NAME });
  expect(response.status).toBe(201);
  return (await response.json()) as Uploaded; // Its shape is what the tests of core prove.
}

function uploadText(url: string): Promise<number> {
  const body = new FormData();
  body.set("imagedata", new File(["no picture"], "notes.txt", { type: "text/plain" }));
  return get(`${url}/api/images.json`, { method: "POST", body });
}

describe("metrics of serve", () => {
  it("metrics count requests and work, and contain no user data", async () => {
    const { url, metrics } = await serveWithMetrics();
    const image = await uploadNamed(url);
    const other = await uploadNamed(url);
    const png = `${url}/api/images/${image.id}.png?resize=32x`;
    const statuses = [
      await get(png), // Cold.
      await get(png), // From memory.
      await get(png),
      await get(`${url}/api/images/${image.id}.jpg`), // The original, from the store.
      await get(`${url}/api/images/${UNKNOWN_ID}.png`),
      await get(`${url}/api/images/${image.id}.exe`),
      await uploadText(url),
      await get(image.editUrl),
      await get(`${url}/api/images/${other.id}.json?pin=${other.pin}`, { method: "DELETE" }),
      await get(`${url}/favicon.ico`), // The server's own 404, not the service's.
    ];
    expect(statuses).toEqual([200, 200, 200, 200, 404, 415, 415, 200, 204, 404]);

    const text = await metrics();
    const found = samplesOf(text);
    for (const what of ["bytes", "inodes"]) {
      const free = found.get(`outrigger_storage_free_${what}`);
      expect(free).toBeGreaterThan(0);
      expect(found.get(`outrigger_storage_total_${what}`)).toBeGreaterThan(free ?? Number.POSITIVE_INFINITY);
    }
    const requests = (method: string, route: string, status: number) =>
      found.get(`outrigger_requests_total{method="${method}",route="${route}",status="${status}"}`);
    expect(requests("POST", "/api/images.json", 201)).toBe(2);
    expect(requests("POST", "/api/images.json", 415)).toBe(1);
    expect(requests("GET", "/api/images/{id}.png", 200)).toBe(3);
    expect(requests("GET", "/api/images/{id}.png", 404)).toBe(1);
    expect(requests("GET", "/api/images/{id}.jpg", 200)).toBe(1);
    expect(requests("GET", "/api/images/*", 415)).toBe(1);
    expect(requests("GET", "/{id}/edit", 200)).toBe(1);
    expect(requests("DELETE", "/api/images/{id}.json", 204)).toBe(1);
    expect(seriesOf(found, "outrigger_requests_total")).toHaveLength(8);
    expect(
      found.get('outrigger_request_duration_seconds_count{method="GET",route="/api/images/{id}.png"}'),
    ).toBe(4);
    // Neither the server's look whether it works nor the refused text is one of them.
    expect(found.get('outrigger_admissions_total{type="image/jpeg",outcome="ok"}')).toBe(2);
    expect(seriesOf(found, "outrigger_admissions_total")).toHaveLength(1);
    expect(found.get('outrigger_renders_total{type="image/jpeg",format="png",outcome="ok"}')).toBe(1);
    expect(found.get('outrigger_served_total{from="render"}')).toBe(1);
    expect(found.get('outrigger_served_total{from="memory"}')).toBe(2);
    expect(found.get('outrigger_served_total{from="store"}')).toBe(1);
    expect(found.get("outrigger_renders_waiting")).toBe(0);
    expect(found.get("outrigger_renders_running")).toBe(0);
    expect(found.get('outrigger_store_duration_seconds_count{role="records",method="adopt"}')).toBe(2);
    expect(found.get("process_resident_memory_bytes")).toBeGreaterThan(0);
    for (const secret of [
      image.id,
      image.pin,
      other.id,
      other.pin,
      NAME,
      "stripes",
      "notes.txt",
      UNKNOWN_ID,
    ]) {
      expect(text).not.toContain(secret);
    }
  });

  it("unknown addresses and methods add no metric series", async () => {
    const { url, metrics } = await serveWithMetrics();
    const tryAll = async (seed: string) => {
      for (let index = 10; index < 60; index++) {
        const id = `${seed}${index}`.padEnd(22, "x");
        for (const path of [
          `/api/images/${id}.png`,
          `/api/images/${id}.${seed}`,
          `/api/images/${id}/${seed}`,
        ]) {
          await get(`${url}${path}`);
        }
        await get(`${url}/${id}`);
        await get(`${url}/${id}/view?${seed}=${index}`);
        await get(`${url}/api/images.${seed}${index}`);
        await get(`${url}/${seed}/${index}`);
      }
      await get(`${url}/api/images.json`, { method: "PROPFIND" });
      await get(`${url}/api/images.json`, { method: seed === "a" ? "REPORT" : "MKCOL" });
      const names = [...samplesOf(await metrics()).keys()];
      // Others begin when the service first sweeps, which it does by itself.
      return names.filter((name) => name.startsWith("outrigger_request")).sort();
    };
    const first = await tryAll("a");
    expect(first).toContain('outrigger_requests_total{method="other",route="/api/images.json",status="405"}');
    expect(await tryAll("b")).toEqual(first);
  });
});

describe("traces", () => {
  it("spans show the work of a request, continue the trace of the client, and contain no user data", async () => {
    const recorder = recordSpans();
    const images = createImages({
      storage: createFsBlobStore({ directory: join(await temporaryDirectory(), "data") }),
      renderer: createRenderer({ timeoutMs: 60_000 }),
      observer: createTracing(),
      asyncAfterMs: false,
    });
    const server = await serveHost(nodeListener(images));
    try {
      const image = await uploadNamed(server.origin);
      const upload = recorder.span("POST /api/images.json");
      const below = recorder.spans().filter((span) => {
        return span.parentSpanContext?.spanId === upload.spanContext().spanId;
      });
      expect(below.map((span) => span.name)).toEqual(expect.arrayContaining(["admit", "records.adopt"]));
      recorder.reset();

      const traceId = "0af7651916cd43dd8448eb211c80319c";
      const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
      expect(await get(`${server.origin}/api/images/${image.id}.png?resize=32x`, { headers })).toBe(200);
      const read = recorder.span("GET /api/images/{id}.png");
      const render = recorder.span("render png");
      expect(render.parentSpanContext?.spanId).toBe(read.spanContext().spanId);
      expect(render.spanContext().traceId).toBe(traceId);
      expect(read.attributes).toMatchObject({
        "http.response.status_code": 200,
        "outrigger.served_from": "render",
      });
      for (const { name, attributes, events, status } of recorder.spans()) {
        const told = JSON.stringify([name, attributes, events, status]);
        for (const secret of [image.id, image.pin, NAME, "stripes"]) expect(told).not.toContain(secret);
      }
    } finally {
      await server.close();
      await images.close();
      await recorder.close();
    }
  });
});
