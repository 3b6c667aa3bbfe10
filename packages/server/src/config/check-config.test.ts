import { describe, expect, it } from "vitest";
import { problemsOf } from "../../test/config-problems.ts";
import { checkConfig } from "./check-config.ts";

const PORT = "must be a whole number from 0 to 65535";
const URL_TEXT =
  "must be an http(s) URL without credentials, query or fragment, such as https://example.com/img";
const TRUST = "must be false, a number of proxies, or their addresses";
const SECRET = "must be a text of at least 32 bytes, or a list of such texts";
const DATABASE = "must be file:path, or postgres://user:password@host:port/database";
const HOSTS = "must be a list of at least one host, such as example.com";
const IMPORTS = "must be true, false, or an object of options (internalHosts)";
const TIME = ', or a time such as "30s" or "7d"';
const ASYNC = `must be false or a whole number from 0 to 60000${TIME}`;
const STEPS = "must be a list of 1 to 64 whole numbers from 1 to 8192";
const PREFIX = "images.sendfile.prefix";

/** A key, an invalid value, what it must be, and the key that the message names if it is another one. */
const INVALID: readonly (readonly [key: string, value: unknown, text: string, wrong?: string])[] = [
  ["port", 65_536, PORT],
  ["prot", 80, "unknown key, did you mean port?"],
  ["host", "", "must be an address or a name"],
  ["data", 7, "must be a path"],
  ["publicUrl", "example.com", URL_TEXT],
  ["publicUrl", "https://me:hush@x.com", URL_TEXT],
  ["trustProxy", "10.0.0.0/99", TRUST],
  ["trustProxy", -1, TRUST],
  ["tls", true, "must be one of required, always, off"],
  ["secret", "short", SECRET],
  ["secret", [], SECRET],
  ["secret", ["a".repeat(32), "short"], "must have at least 32 bytes", "secret.1"],
  ["metrics", true, "must be false or an object of options (port, host)"],
  ["metrics", {}, PORT, "metrics.port"],
  ["metrics", { port: 9464, path: "/" }, "unknown key", "metrics.path"],
  ["keepAliveMs", -1, `must be a whole number from 0 to 3600000${TIME}`],
  ["log.level", "loud", "must be one of fatal, error, warn, info, debug, trace, silent"],
  ["shutdownMs", 1, `must be a whole number from 100 to 600000${TIME}`],
  [
    "lookup",
    true,
    "must be false or an object of options (database, secret, plans, networkNames, requestsPerSecond, testKey, smtp, dnsServers)",
  ],
  ["lookup.databse", "file:x", "unknown key, did you mean lookup.database?"],
  ["lookup.database", "mysql://u:hush@h/x", DATABASE],
  ["lookup.database", "postgres://db.example.com", DATABASE],
  [
    "lookup.database",
    "file:a?b",
    "must be file:path or file:///path, with special characters (% ? #) percent-encoded",
  ],
  [
    "lookup.smtp",
    { helo: "localhost", mailFrom: "" },
    "must be a full host name, such as mail.example.com",
    "lookup.smtp.helo",
  ],
  [
    "lookup.smtp",
    { helo: "mail.example.com", mailFrom: "me" },
    "must be an ASCII address or empty",
    "lookup.smtp.mailFrom",
  ],
  ["lookup.dnsServers", ["dns.example.com"], "must be a list of IP addresses with or without a port"],
  [
    "lookup.plans.gold",
    { searches: -1, verifications: 1 },
    "must be false or a whole number from 0",
    "lookup.plans.gold.searches",
  ],
  ["lookup.networkNames", { a: "x", b: "x" }, "must differ from a", "lookup.networkNames.b"],
  ["images.fileFields", "all", 'must be "any" or a list of part names'],
  ["images.asyncAfterMs", 60_001, ASYNC],
  ["images.importUrls", { hosts: ["a"] }, IMPORTS],
  [
    "images.importUrls.internalHosts",
    ["http://cms.intranet/"],
    "must be a list of hosts, such as cms.example or cms.example:8080",
  ],
  [
    "images.sendfile",
    { header: "X-Accel-Redirect" },
    "is required for X-Accel-Redirect: the path of nginx's internal location",
    PREFIX,
  ],
  ["images.allowedHosts", [1], HOSTS],
  [
    "images.rateLimits",
    true,
    "must be false or an object of options (creates, reads, edits, pinFailures, reports)",
  ],
  [
    "images.rateLimits.creates",
    0,
    "must be false or a whole number from 1, or { perMinute, burst } of such numbers",
  ],
  ["images.rateLimits.uploads", 5, "unknown key, did you mean images.rateLimits.creates?"],
  ["images.sizes", "some", "must be one of any, steps, signed, or { steps } with a list of longer sides"],
  ["images.sizes.steps", [], STEPS],
  ["images.presets.Thumb", { page: 1 }, "must be named by 1 to 32 of a-z, 0-9 and -"],
  [
    "images.presets.thumb",
    {},
    "must have at least one of resize, convert, page, fit, at, background, rotate, watermark",
  ],
  [
    "images.presets.thumb.resize",
    "8193x",
    "must be <MaxWidth>x<MaxHeight>, <MaxWidth>x or x<MaxHeight> with sides of 1 to 8192 pixels",
  ],
  ["images.presets.thumb", { page: 1, size: 5 }, "unknown key", "images.presets.thumb.size"],
  [
    "images.presets.a.watermark",
    { at: "north" },
    "must be the path or the bytes of an image",
    "images.presets.a.watermark.image",
  ],
  [
    "images.presets.a.watermark",
    { image: "a.png", size: 1 },
    "unknown key",
    "images.presets.a.watermark.size",
  ],
  ["images.storage", "x", "unknown key"],
  ["images.cors.origins", "https://a.example", 'must be a list of origins, or "*"'],
  [
    "images.cors.origins",
    ["https://a.example/"],
    'must be written as browsers do, without path or slash at the end: "https://a.example"',
    "images.cors.origins.0",
  ],
  [
    "images.cors",
    { origins: "*", credentials: true },
    'needs a list of origins: browsers refuse them with "*"',
    "images.cors.credentials",
  ],
];

describe("checkConfig", () => {
  it("accepts every key of the server itself", () => {
    const config = {
      port: 0,
      host: "0.0.0.0",
      data: "./data",
      tls: "off",
      shutdownMs: 100,
      drainDelayMs: 0,
      publicUrl: "https://example.com/img",
      trustProxy: ["loopback", "10.0.0.0/8"],
      secret: ["a".repeat(32), "b".repeat(32)],
      keepAliveMs: 0,
      log: { level: "silent" },
      metrics: { port: 0, host: "0.0.0.0" },
      lookup: { database: "postgres://user:password@db.example.com:5432/lookup?sslmode=require" },
    };
    expect(checkConfig(config, "test")).toEqual(config);
    expect(checkConfig({ metrics: false, lookup: false }, "test")).toEqual({ metrics: false, lookup: false });
  });

  it("names every invalid key with what it must be", () => {
    for (const [key, value, text, wrong = key] of INVALID) {
      const config = key.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
      expect(problemsOf(config), `${key}: ${JSON.stringify(value)}`).toEqual([`${wrong}: ${text}`]);
    }
    for (const config of [null, []]) {
      const problem = expect.stringMatching(/^the configuration: must be an object of options \(port, /);
      expect(problemsOf(config)).toEqual([problem]);
    }
    expect(problemsOf({ images: [] })[0]).toMatch(/^images: must be an object of options \(allowedHosts, /);
  });

  it("names all invalid keys at once", () => {
    expect(problemsOf({ port: -1, images: { cacheSeconds: -1, foo: 1 } })).toEqual([
      "port: must be a whole number from 0 to 65535",
      `images.cacheSeconds: must be a whole number from 0${TIME}`,
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
