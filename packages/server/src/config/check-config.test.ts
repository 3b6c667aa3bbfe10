import { describe, expect, it } from "vitest";
import { checkConfig } from "./check-config.ts";
import { ConfigError } from "./config-error.ts";
import { settingsOf } from "./settings.ts";

function problemsOf(config: unknown): readonly string[] {
  try {
    checkConfig(config, "test");
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("checkConfig", () => {
  it("takes every key that is documented", () => {
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
        keepMetadata: true,
        defaultLifetimeMs: 1,
        maxLifetimeMs: 1,
        tombstoneDays: 0,
        sweepEveryMs: 1000,
        sizes: { steps: [64, 8192] },
        presets: { thumb: { resize: "256x256" }, "page-2": { page: 2, convert: "low" } },
        cacheSeconds: 0,
        memoryBytes: 0,
        maxRenditionBytes: 1_048_576,
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
        maxGifOutputPixels: 1,
        maxAnimationOutputPixels: 1,
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
      jobQueue: "rediss://user:password@localhost:6380/1?prefix=jobs",
      tracing: true,
      shutdownMs: 100,
      drainDelayMs: 0,
    };
    expect(checkConfig(config, "test")).toEqual(config);
  });

  it.each([
    [{ port: 65_536 }, "port: must be a whole number from 0 to 65535"],
    [{ port: "3000" }, "port: must be a whole number from 0 to 65535"],
    [{ port: 80.5 }, "port: must be a whole number from 0 to 65535"],
    [{ host: "" }, "host: must be an address or a name"],
    [{ data: 7 }, "data: must be a path"],
    [
      { publicUrl: "example.com" },
      "publicUrl: must be an http(s) URL without credentials, query or fragment, such as https://example.com/img",
    ],
    [
      { publicUrl: "https://x.com/?a" },
      "publicUrl: must be an http(s) URL without credentials, query or fragment, such as https://example.com/img",
    ],
    [{ trustProxy: "10.0.0.0/99" }, "trustProxy: must be false, a number of proxies, or their addresses"],
    [{ trustProxy: -1 }, "trustProxy: must be false, a number of proxies, or their addresses"],
    [{ tls: true }, "tls: must be one of required, always, off"],
    [{ secret: "short" }, "secret: must be a text of at least 32 bytes, or a list of such texts"],
    [{ secret: [] }, "secret: must be a text of at least 32 bytes, or a list of such texts"],
    [{ secret: ["a".repeat(32), "short"] }, "secret.1: must have at least 32 bytes"],
    [{ images: [] }, expect.stringMatching(/^images: must be an object of options \(allowedHosts, /)],
    [{ images: { maxUploadBytes: 0 } }, "images.maxUploadBytes: must be a whole number from 1 to 2147483648"],
    [{ images: { uploadIdleMs: 99 } }, "images.uploadIdleMs: must be a whole number from 100"],
    [
      { images: { asyncAfterMs: 60_001 } },
      "images.asyncAfterMs: must be false or a whole number from 0 to 60000",
    ],
    [
      { images: { asyncAfterMs: true } },
      "images.asyncAfterMs: must be false or a whole number from 0 to 60000",
    ],
    [{ images: { processUploads: 1 } }, "images.processUploads: must be true or false"],
    [
      { jobQueue: 1 },
      "jobQueue: must be redis://[user:password@]host[:port][/database], rediss://… or redis+sentinel://…",
    ],
    [{ jobQueue: "memory:" }, expect.stringContaining("jobQueue: must be redis://[user:password@]host")],
    [
      { lookup: true },
      "lookup: must be false or an object of options (database, secret, plans, networkNames, requestsPerSecond, smtp, dnsServers)",
    ],
    [{ lookup: { databse: "file:x" } }, "lookup.databse: unknown key, did you mean lookup.database?"],
    [
      { lookup: { database: "mysql://u:hush@h/x" } },
      "lookup.database: must be file:path, or postgres://user:password@host:port/database",
    ],
    [
      { lookup: { database: "postgres://db.example.com" } },
      "lookup.database: must be file:path, or postgres://user:password@host:port/database",
    ],
    [
      { lookup: { database: "file:a?b" } },
      "lookup.database: must be file:path or file:///path, with special characters (% ? #) percent-encoded",
    ],
    [
      { lookup: { secret: "short" } },
      "lookup.secret: must be a text of at least 32 bytes, or a list of such texts",
    ],
    [
      { lookup: { smtp: { helo: "localhost", mailFrom: "" } } },
      "lookup.smtp.helo: must be a full host name, such as mail.example.com",
    ],
    [
      { lookup: { smtp: { helo: "mail.example.com", mailFrom: "me" } } },
      "lookup.smtp.mailFrom: must be an ASCII address or empty",
    ],
    [
      { lookup: { dnsServers: ["dns.example.com"] } },
      "lookup.dnsServers: must be a list of IP addresses with or without a port",
    ],
    [
      { lookup: { plans: { gold: { searches: -1, verifications: 1 } } } },
      "lookup.plans.gold.searches: must be false or a whole number from 0",
    ],
    [{ lookup: { networkNames: { a: "x", b: "x" } } }, "lookup.networkNames.b: must differ from a"],
    [
      { lookup: { requestsPerSecond: 0 } },
      "lookup.requestsPerSecond: must be false or a whole number from 1",
    ],
    [{ images: { keepMetadata: "yes" } }, "images.keepMetadata: must be true or false"],
    [
      { images: { allowedHosts: "a" } },
      "images.allowedHosts: must be a list of at least one host, such as example.com",
    ],
    [
      { images: { allowedHosts: [1] } },
      "images.allowedHosts: must be a list of at least one host, such as example.com",
    ],
    [
      { images: { rateLimits: true } },
      "images.rateLimits: must be false or an object of options (creates, reads, edits, pinFailures)",
    ],
    [
      { images: { rateLimits: { creates: 0 } } },
      "images.rateLimits.creates: must be false or a whole number from 1",
    ],
    [
      { images: { rateLimits: { uploads: 5 } } },
      "images.rateLimits.uploads: unknown key, did you mean images.rateLimits.creates?",
    ],
    [
      { images: { sizes: "some" } },
      "images.sizes: must be one of any, steps, signed, or { steps } with a list of longer sides",
    ],
    [
      { images: { sizes: { steps: [0] } } },
      "images.sizes.steps: must be a list of 1 to 64 whole numbers from 1 to 8192",
    ],
    [
      { images: { sizes: { steps: [] } } },
      "images.sizes.steps: must be a list of 1 to 64 whole numbers from 1 to 8192",
    ],
    [{ images: { presets: [] } }, "images.presets: must be an object"],
    [
      { images: { presets: { Thumb: { page: 1 } } } },
      "images.presets.Thumb: must be named by 1 to 32 of a-z, 0-9 and -",
    ],
    [
      { images: { presets: { thumb: {} } } },
      "images.presets.thumb: must have at least one of resize, convert, page",
    ],
    [
      { images: { presets: { thumb: { resize: "8193x" } } } },
      "images.presets.thumb.resize: must be <MaxWidth>x<MaxHeight>, <MaxWidth>x or x<MaxHeight> with sides of 1 to 8192 pixels",
    ],
    [
      { images: { presets: { thumb: { convert: "best" } } } },
      "images.presets.thumb.convert: must be one of low, medium, high, max",
    ],
    [{ images: { presets: { thumb: { page: 1, size: 5 } } } }, "images.presets.thumb.size: unknown key"],
    [{ images: { storage: "x" } }, "images.storage: unknown key"],
    [{ images: { tombstoneDays: 3651 } }, "images.tombstoneDays: must be a whole number from 0 to 3650"],
    [
      { images: { allowedHosts: [] } },
      "images.allowedHosts: must be a list of at least one host, such as example.com",
    ],
    [
      { publicUrl: "https://me:hush@x.com" },
      "publicUrl: must be an http(s) URL without credentials, query or fragment, such as https://example.com/img",
    ],
    [
      { images: { maxRenditionBytes: 1_048_575 } },
      "images.maxRenditionBytes: must be false or a whole number from 1048576",
    ],
    [
      { images: { renditionsIdleDays: 0 } },
      "images.renditionsIdleDays: must be false or a whole number from 1 to 3650",
    ],
    [
      { images: { sweepEveryMs: 999 } },
      "images.sweepEveryMs: must be false or a whole number from 1000 to 86400000",
    ],
    [
      { images: { minUploadBytesPerSecond: -1 } },
      "images.minUploadBytesPerSecond: must be a whole number from 0",
    ],
    [
      { images: { cors: { origins: "https://a.example" } } },
      'images.cors.origins: must be a list of origins, or "*"',
    ],
    [
      { images: { cors: { origins: ["https://a.example/"] } } },
      'images.cors.origins.0: must be written as browsers do, without path or slash at the end: "https://a.example"',
    ],
    [
      { images: { cors: { origins: "*", credentials: true } } },
      'images.cors.credentials: needs a list of origins: browsers refuse them with "*"',
    ],
    [{ images: { cors: {} } }, 'images.cors.origins: must be a list of origins, or "*"'],
    [
      { images: { ownerLimits: { images: 0.5 } } },
      "images.ownerLimits.images: must be a whole number from 0",
    ],
    [{ metrics: true }, "metrics: must be false or an object of options (port, host)"],
    [{ metrics: {} }, "metrics.port: must be a whole number from 0 to 65535"],
    [{ metrics: { port: 9464, path: "/" } }, "metrics.path: unknown key"],
    [{ tracing: {} }, "tracing: must be true or false"],
    [{ renderer: { workers: 0 } }, "renderer.workers: must be a whole number from 1 to 256"],
    [{ http: { idleMs: 1 } }, "http.idleMs: must be a whole number from 1000 to 3600000"],
    [{ log: { level: "loud" } }, "log.level: must be one of fatal, error, warn, info, debug, trace, silent"],
    [{ log: { pretty: "yes" } }, "log.pretty: must be true or false"],
    [{ shutdownMs: 1 }, "shutdownMs: must be a whole number from 100 to 600000"],
    [{ prot: 80 }, "prot: unknown key, did you mean port?"],
    [null, expect.stringMatching(/^the configuration: must be an object of options \(port, /)],
    [[], expect.stringMatching(/^the configuration: must be an object of options \(port, /)],
  ])("refuses %j with a line that names the key", (config, problem) => {
    expect(problemsOf(config)).toEqual([problem]);
  });

  it("takes false where uploads are never answered before they are processed", () => {
    const config = { images: { asyncAfterMs: false } };
    expect(checkConfig(config, "test")).toEqual(config);
  });

  it("takes false for metrics and a sweep that are off, and all origins without credentials", () => {
    const config = {
      metrics: false,
      images: { sweepEveryMs: false, cors: { origins: "*", credentials: false } },
    };
    expect(checkConfig(config, "test")).toEqual(config);
  });

  it("names every key that is wrong at once", () => {
    expect(problemsOf({ port: -1, images: { cacheSeconds: -1, foo: 1 } })).toEqual([
      "port: must be a whole number from 0 to 65535",
      "images.cacheSeconds: must be a whole number from 0",
      "images.foo: unknown key",
    ]);
  });

  it("takes undefined for absent, as code passes it", () => {
    expect(checkConfig({ port: undefined, images: { cacheSeconds: undefined } }, "test")).toEqual({
      images: {},
    });
  });

  it("never repeats a value: it may be a secret", () => {
    expect(() => checkConfig({ secret: "my-short-secret" }, "test")).toThrow(
      /^(?![\s\S]*my-short-secret)test is not valid\nsecret: /,
    );
    const url = "https://user:my-short-secret@a.example";
    for (const config of [
      { port: "my-short-secret", tls: "my-short-secret", secret: ["my-short-secret"] },
      { storage: "redis://:my-short-secret@", jobQueue: "my-short-secret", publicUrl: url },
      { storage: { records: url, originals: 7 }, lookup: { database: url, secret: "my-short-secret" } },
      { images: { cors: { origins: [url] }, allowedHosts: url, presets: { a: { resize: url } } } },
    ]) {
      expect(problemsOf(config).length).toBeGreaterThan(2);
      expect(problemsOf(config).join()).not.toContain("my-short-secret");
    }
  });
});

describe("settingsOf", () => {
  it("gives the largest upload the time that a slow line needs", () => {
    expect(settingsOf({}).http.requestTimeoutMs).toBe(860_000);
    expect(settingsOf({ images: { maxUploadBytes: 32 * 1024 } }).http.requestTimeoutMs).toBe(61_000);
    expect(settingsOf({ http: { requestTimeoutMs: 5000 } }).http.requestTimeoutMs).toBe(5000);
  });

  it("refuses a drain delay that leaves no time to end", () => {
    expect(() => settingsOf({ shutdownMs: 1000, drainDelayMs: 1000 })).toThrow(
      "drainDelayMs: must be less than shutdownMs (1000)",
    );
  });
});
