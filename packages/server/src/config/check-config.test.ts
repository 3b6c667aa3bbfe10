import { describe, expect, it } from "vitest";
import { problemsOf } from "../../test/config-problems.ts";
import { checkConfig } from "./check-config.ts";

describe("checkConfig", () => {
  it("accepts every documented key", () => {
    const config = {
      port: 0,
      host: "0.0.0.0",
      data: "./data",
      publicUrl: "https://example.com/img",
      trustProxy: ["loopback", "10.0.0.0/8"],
      tls: "off",
      secret: ["a".repeat(32), "b".repeat(32)],
      images: {
        allowedHosts: ["example.com"],
        maxUploadBytes: 1,
        uploadIdleMs: 100,
        minUploadBytesPerSecond: 0,
        asyncAfterMs: 0,
        importUrls: { ports: [443], internalHosts: ["cms.intranet:8080"], timeoutMs: 1000 },
        keepMetadata: true,
        keepPdfActions: true,
        defaultLifetimeMs: 1,
        maxLifetimeMs: 1,
        tombstoneDays: 0,
        readLeaseMs: 10_000,
        sweepEveryMs: 1000,
        sizes: { steps: [64, 8192] },
        presets: { thumb: { resize: "256x256" }, "page-2": { page: 2, convert: "low" }, dim: { blur: 9 } },
        cacheSeconds: 0,
        memoryBytes: 0,
        renditionsIdleDays: 1,
        rateLimits: { creates: 1, reads: false, edits: 1, pinFailures: 1 },
        renderBudget: 1,
        cors: { origins: ["https://app.example.com", "http://localhost:5173", "null"], credentials: true },
        ownerLimits: { images: 0, bytes: 1 },
      },
      renderer: {
        maxPixels: 1,
        maxFrames: 1,
        maxSide: 1,
        maxOutputPixels: 1,
        timeoutMs: 100,
        maxMemoryBytes: 134_217_728,
        workers: 1,
        maxQueue: 0,
      },
      http: {
        headersTimeoutMs: 100,
        requestTimeoutMs: 1000,
        keepAliveMs: 0,
        idleMs: 1000,
        maxConnections: 1,
      },
      log: { level: "silent", pretty: true },
      metrics: { port: 0, host: "0.0.0.0" },
      lookup: {
        database: "postgres://user:password@db.example.com:5432/lookup?sslmode=require",
        secret: ["c".repeat(32)],
        smtp: { helo: "mail.example.com", mailFrom: "probe@example.com" },
        dnsServers: ["192.0.2.53", "192.0.2.53:5353", "[2001:db8::53]:53"],
        plans: { gold: { searches: false, verifications: 0 } },
        networkNames: { a: "linked", b: "short" },
        requestsPerSecond: false,
      },
      tracing: true,
      shutdownMs: 100,
      drainDelayMs: 0,
    };
    expect(checkConfig(config, "test")).toEqual(config);
  });

  it("accepts asyncAfterMs: false, which makes every upload wait", () => {
    const config = { images: { asyncAfterMs: false } };
    expect(checkConfig(config, "test")).toEqual(config);
  });

  it("accepts false for metrics and sweepEveryMs, and all origins without credentials", () => {
    const config = {
      metrics: false,
      images: { sweepEveryMs: false, cors: { origins: "*", credentials: false } },
    };
    expect(checkConfig(config, "test")).toEqual(config);
  });

  it("names all invalid keys at once", () => {
    expect(problemsOf({ port: -1, images: { cacheSeconds: -1, foo: 1 } })).toEqual([
      "port: must be a whole number from 0 to 65535",
      "images.cacheSeconds: must be a whole number from 0",
      "images.foo: unknown key",
    ]);
  });

  it("treats undefined as absent, since code passes it", () => {
    expect(checkConfig({ port: undefined, images: { cacheSeconds: undefined } }, "test")).toEqual({
      images: {},
    });
  });

  it("never quotes a value, which may be a secret", () => {
    expect(() => checkConfig({ secret: "my-short-secret" }, "test")).toThrow(
      /^(?![\s\S]*my-short-secret)test is not valid\nsecret: /,
    );
    const url = "https://user:my-short-secret@a.example";
    for (const config of [
      { port: "my-short-secret", tls: "my-short-secret", secret: ["my-short-secret"] },
      { storage: "redis://:my-short-secret@", data: 7, publicUrl: url },
      { storage: { records: url, originals: 7 }, lookup: { database: url, secret: "my-short-secret" } },
      { images: { cors: { origins: [url] }, allowedHosts: url, presets: { a: { resize: url } } } },
    ]) {
      expect(problemsOf(config).length).toBeGreaterThan(2);
      expect(problemsOf(config).join()).not.toContain("my-short-secret");
    }
  });
});
