import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/outrigger-process.ts";
import type { ServerConfig } from "../../config/config-rules.ts";
import { settingsOf } from "../../config/settings.ts";
import {
  checkAddresses,
  checkClock,
  checkNode,
  checkOpenFiles,
  checkSecret,
  checkSizes,
  checkTimeOuts,
} from "./check-machine.ts";

it.each([
  ["18.20.4", "problem"],
  ["20.18.3", "problem"],
  ["20.19.0", "ok"],
  ["21.0.0", "ok"],
  ["22.4.1", "ok"],
])("checkNode rates Node %s as %s", (version, status) => {
  expect(checkNode(version)).toMatchObject({
    check: "Node.js",
    status,
    detail: `${version} (20.19 or newer is needed)`,
  });
});

it("checkOpenFiles warns below 1024 open files, and reports nothing for an unknown limit", () => {
  expect(checkOpenFiles(1024)).toEqual([{ check: "open files", status: "ok", detail: "at most 1024" }]);
  expect(checkOpenFiles(Number.POSITIVE_INFINITY)).toMatchObject([{ status: "ok", detail: "unlimited" }]);
  expect(checkOpenFiles(1023)).toMatchObject([
    {
      status: "warning",
      detail: expect.stringContaining("at most 1023"),
      remedy: expect.stringContaining("ulimit -n"),
    },
  ]);
  expect(checkOpenFiles(null)).toEqual([]);
});

it("openFilesLimit reads the soft limit of this process", () => {
  const [finding] = checkOpenFiles();
  expect(finding?.detail).toMatch(/^(?:at most [1-9]\d*|unlimited)/);
});

it.each([
  [Number.NaN, "ok", "equal to this machine's"],
  [0, "ok", "equal to this machine's"],
  [5000, "ok", "equal to this machine's"],
  [-5000, "ok", "equal to this machine's"],
  [5001, "warning", "5 s ahead of this machine's"],
  [-5001, "warning", "5 s behind this machine's"],
  [60_000, "warning", "60 s ahead of this machine's"],
  [60_001, "problem", "60 s ahead of this machine's"],
  [-3600_000, "problem", "3600 s behind this machine's"],
])("checkClock rates a clock that is %j ms ahead as %s", (aheadMs, status, detail) => {
  expect(checkClock("clock", aheadMs)).toMatchObject({ check: "clock", status, detail });
});

describe("checkSecret", () => {
  let data: string;
  let path: string;

  beforeEach(async () => {
    data = await temporaryDirectory();
    path = join(data, "secret");
  });

  async function checkFile(bytes: number, mode: number) {
    await writeFile(path, Buffer.alloc(bytes, "s"));
    await chmod(path, mode);
    return checkSecret({ kind: "file", directory: data }, false);
  }

  it("accepts a secret that only its owner can read", async () => {
    expect(await checkFile(32, 0o600)).toEqual({ check: "secret", status: "ok", detail: path });
  });

  it("accepts a missing secret that the first start will create", async () => {
    expect(await checkSecret({ kind: "file", directory: data }, false)).toMatchObject({
      status: "ok",
      detail: "created at the first start",
    });
  });

  it("reports a secret that other users can read, with the remedy", async () => {
    for (const mode of [0o640, 0o604]) {
      expect(await checkFile(32, mode)).toEqual({
        check: "secret",
        status: "problem",
        detail: `${path} can be read by other users`,
        remedy: `Restrict it to its owner: chmod 600 ${path}`,
      });
    }
  });

  it("reports a truncated secret", async () => {
    expect(await checkFile(31, 0o600)).toMatchObject({ status: "problem", detail: `${path} is too short` });
  });

  it("reports a secret that cannot be read", async () => {
    await mkdir(path, { mode: 0o700 });
    expect(await checkSecret({ kind: "file", directory: data }, false)).toEqual({
      check: "secret",
      status: "problem",
      detail: `${path} cannot be read: it is a directory`,
      remedy: "Make the server's user its owner",
    });
  });

  it("ignores the file if the configuration sets a secret", async () => {
    await checkFile(1, 0o644);
    expect(await checkSecret({ kind: "file", directory: data }, true)).toMatchObject({
      status: "ok",
      detail: "set in the configuration",
    });
  });

  it("reports a missing secret if the records are in Redis, and accepts it if they are in memory", async () => {
    const redis = { kind: "redis", url: "redis://user:hush@localhost:6379" } as const;
    expect(await checkSecret(redis, false)).toEqual({
      check: "secret",
      status: "problem",
      detail: "none is set, and redis://localhost:6379 cannot keep one",
      remedy: "Set secret or OUTRIGGER_SECRET to at least 32 random bytes, the same for all processes",
    });
    expect(await checkSecret(redis, true)).toMatchObject({ status: "ok" });
    expect(await checkSecret({ kind: "memory" }, false)).toMatchObject({ status: "ok" });
  });
});

const foundTimeOuts = (config: ServerConfig) => checkTimeOuts(settingsOf({ data: "/data", ...config }));
const foundSizes = (config: ServerConfig) => checkSizes(settingsOf({ data: "/data", ...config }));

it("checkTimeOuts reports ok for the defaults with any upload size", () => {
  expect(foundTimeOuts({ trustProxy: 1 })).toMatchObject({ check: "time-outs", status: "ok" });
  expect(foundTimeOuts({ images: { maxUploadBytes: 2 ** 31 } })).toMatchObject({ status: "ok" });
});

it.each<[ServerConfig, string]>([
  [{ trustProxy: 1, http: { keepAliveMs: 5000 } }, "http.keepAliveMs"],
  [{ http: { idleMs: 15_000 } }, "http.idleMs"],
  [{ images: { uploadIdleMs: 200_000 } }, "http.idleMs"],
  [{ http: { requestTimeoutMs: 30_000 } }, "http.requestTimeoutMs"],
])("checkTimeOuts warns about %j", (config, detail) => {
  expect(foundTimeOuts(config)).toMatchObject({
    check: "time-outs",
    status: "warning",
    detail: expect.stringContaining(detail),
  });
});

it("checkTimeOuts accepts a short keepAliveMs without a proxy in front", () => {
  expect(foundTimeOuts({ http: { keepAliveMs: 5000 } })).toMatchObject({ status: "ok" });
});

it.each<ServerConfig>([{}, { images: { sizes: "any" } }])(
  "checkSizes warns about sizes: any without a proxy for %j",
  (config) => {
    expect(foundSizes(config)).toEqual({
      check: "sizes",
      status: "warning",
      detail: "any client can request any size, and no trusted proxy is in front",
      remedy: expect.stringContaining('images.sizes to "steps" or "signed"'),
    });
  },
);

it.each<ServerConfig>([
  { trustProxy: 1 },
  { images: { sizes: "steps" } },
  { images: { sizes: { steps: [400] } } },
  { images: { sizes: "signed" } },
])("checkSizes reports ok for %j", (config) => {
  expect(foundSizes(config)).toMatchObject({ check: "sizes", status: "ok" });
});

const foundAddresses = (config: ServerConfig) => checkAddresses(settingsOf({ data: "/data", ...config }));

it.each<NonNullable<ServerConfig["trustProxy"]>>([1, true, "loopback", ["10.0.0.0/8"]])(
  "checkAddresses warns about trustProxy: %j without publicUrl and allowedHosts",
  (trustProxy) => {
    expect(foundAddresses({ trustProxy })).toEqual({
      check: "addresses",
      status: "warning",
      detail: expect.stringContaining("X-Forwarded-Host"),
      remedy: "Set publicUrl, or at least images.allowedHosts",
    });
  },
);

it.each<ServerConfig>([
  {},
  { trustProxy: 0 },
  { trustProxy: 1, publicUrl: "https://img.example" },
  { trustProxy: 1, images: { allowedHosts: ["img.example"] } },
])("checkAddresses reports ok for %j", (config) => {
  expect(foundAddresses(config)).toMatchObject({ check: "addresses", status: "ok" });
});
