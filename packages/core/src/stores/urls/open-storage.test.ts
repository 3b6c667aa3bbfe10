import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStorage } from "./open-storage.ts";

test("roles with the same URL share a store, as text, as an object and as JSON", async () => {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-urls-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const one = await openStorage(`file:${join(directory, "a")}`);
  expect(new Set(Object.values(one)).size).toBe(1);
  const urls = {
    records: `file:${join(directory, "b")}`,
    originals: `file:${join(directory, "b")}`,
    renditions: "memory:?maxBytes=10",
  };
  for (const storage of [urls, JSON.stringify(urls)]) {
    const { records, originals, renditions } = await openStorage(storage);
    expect(originals).toBe(records);
    await records.put("key", Buffer.alloc(11));
    expect(await originals.stat("key")).toMatchObject({ size: 11 });
    await expect(renditions.put("key", Buffer.alloc(11))).rejects.toMatchObject({ code: "no_space" });
    for (const store of [records, renditions]) await store.close();
  }
});

const SECRET = "hush-4711";

test.each([
  ["", /^storage must be a URL that begins with file:/],
  ["./data", /^storage must be a URL/],
  [`mysql://ann:${SECRET}@db/x`, /^storage must be a URL/],
  [`redis://ann:${SECRET}@h ost`, /^storage must be redis:/],
  [`redis://ann:${SECRET}@host/0?prefix=a&other=${SECRET}`, /^storage must have no parameters except prefix/],
  [`postgres://ann:${SECRET}@host`, /^storage must be postgres:/],
  [`postgres://ann:${SECRET}@host/images`, /^storage.originals: must not be PostgreSQL/],
  [`s3://${SECRET}:${SECRET}@bucket`, /^storage must not contain credentials/],
  [`{"records": "redis://ann:${SECRET}@host",`, /^storage must be a URL, or JSON/],
  [`{"records": "redis://ann:${SECRET}@host"}`, /^storage.originals must be a URL/],
  [
    { records: "memory:", originals: "file:./a", renditions: "file:./a" },
    /^storage.records: must not be memory/,
  ],
  [
    { records: "file:./a", originals: `rediss://:${SECRET}@h?ttlMs=x`, renditions: "file:./a" },
    /^storage.originals must have as ttlMs a whole number/,
  ],
  [null, /^storage.records must be a URL/],
  [undefined, /^storage.records must be a URL/],
  [7, /^storage.records must be a URL/],
])(
  "openStorage rejects %j with a TypeError that names the accepted form and quotes no URL",
  async (storage, message) => {
    const error: unknown = await openStorage(storage as never).catch((reason) => reason);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(Object(error).message)).toMatch(message);
    expect(`${error} ${Object(error).stack}`).not.toContain(SECRET);
  },
);
