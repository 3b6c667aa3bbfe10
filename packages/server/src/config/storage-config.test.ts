import { describe, expect, it } from "vitest";
import { checkConfig } from "./check-config.ts";
import { ConfigError } from "./config-error.ts";
import { settingsOf } from "./settings.ts";
import { resolveStorage } from "./storage-config.ts";
import { describeTargets } from "./targets/describe-storage.ts";

const apart = {
  records: "redis://:hush@localhost",
  originals: "file:/srv/originals",
  renditions: "memory:?maxBytes=1000",
};

function problemsOf(config: unknown): readonly string[] {
  try {
    settingsOf(checkConfig(config, "test"));
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems;
  }
}

describe("the key storage", () => {
  it("accepts one URL for all roles, or a URL for each role", () => {
    expect(describeTargets(settingsOf({ storage: "file:/srv/images" }).storage)).toBe("file:/srv/images");
    expect(describeTargets(settingsOf(checkConfig({ storage: apart }, "test")).storage)).toEqual({
      records: "redis://localhost",
      originals: "file:/srv/originals",
      renditions: "memory:",
    });
  });

  it("defaults to the directory data", () => {
    expect(describeTargets(settingsOf({ data: "/srv/data" }).storage)).toBe("file:/srv/data");
    expect(describeTargets(settingsOf({}).storage)).toMatch(/^file:\/.*\/data$/);
  });

  it.each([
    [7, "storage: must be a URL, or an object with a URL for each of records, originals, renditions"],
    [null, "storage: must be a URL, or an object with a URL for each of records, originals, renditions"],
    ["memory:x", "storage: must be memory: or memory:?maxBytes=…"],
    [{ ...apart, originals: "memory:x" }, "storage.originals: must be memory: or memory:?maxBytes=…"],
    [{ ...apart, originals: undefined }, "storage.originals: must be a URL"],
    [{ ...apart, images: "memory:" }, "storage.images: unknown key"],
  ])("rejects %j", (storage, problem) => {
    expect(problemsOf({ storage })).toEqual([problem]);
  });

  it("accepts PostgreSQL for records, and rejects it for originals and renditions", () => {
    const url = "postgres://:hush@localhost/images";
    expect(problemsOf({ storage: { ...apart, records: url } })).toEqual([]);
    for (const role of ["originals", "renditions"]) {
      expect(problemsOf({ storage: { ...apart, [role]: url } })).toEqual([
        expect.stringMatching(`^storage\\.${role}: must not be PostgreSQL, which stores records only\\.`),
      ]);
    }
    expect(problemsOf({ storage: url })).toEqual([expect.stringContaining('{"records": "postgres://…"')]);
  });

  it("is rejected together with data, and the message names the one to remove", () => {
    expect(problemsOf({ data: "x", storage: "memory:" })).toEqual([
      expect.stringMatching(/: remove data \(/),
    ]);
  });

  it("rejects records or originals in memory if the other is persistent", () => {
    expect(problemsOf({ storage: { ...apart, records: "memory:" } })).toEqual([
      expect.stringMatching(/^storage\.records: must not be memory: .* Name the store of the originals$/),
    ]);
    expect(problemsOf({ storage: { ...apart, originals: "memory:" } })).toEqual([
      expect.stringMatching(/^storage\.originals: must not be memory: .* Name the store of the records$/),
    ]);
    expect(problemsOf({ storage: "memory:" })).toEqual([]);
  });
});

describe("ttlMs", () => {
  it("is accepted only for a Redis that stores only renditions", () => {
    const expiring = "redis://localhost?prefix=renditions&ttlMs=86400000";
    expect(problemsOf({ storage: { ...apart, renditions: expiring } })).toEqual([]);
    for (const storage of [expiring, { ...apart, originals: expiring }, { ...apart, records: expiring }]) {
      expect(problemsOf({ storage })).toEqual([
        expect.stringMatching(/^storage: must have ttlMs only for renditions/),
      ]);
    }
  });
});

describe("resolveStorage", () => {
  it("resolves relative paths against the directory and leaves other URLs unchanged", () => {
    expect(resolveStorage("file:./my%20data", "/etc/outrigger")).toBe("file:///etc/outrigger/my%20data");
    expect(resolveStorage({ ...apart, originals: "file:originals" }, "/etc")).toEqual({
      ...apart,
      originals: "file:///etc/originals",
    });
  });
});
