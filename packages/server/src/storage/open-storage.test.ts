import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StorageTargets } from "@outrigger/core/stores";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/outrigger-process.ts";
import { openRateLimiter, openStorage } from "./open-storage.ts";

describe("openStorage", () => {
  it("opens one store for roles with the same URL, and a separate store for each other URL", async () => {
    const directory = await temporaryDirectory();
    const storage = await openStorage({
      records: { kind: "file", directory },
      originals: { kind: "file", directory },
      renditions: { kind: "memory", maxBytes: 10 },
    });
    const { records, originals, renditions } = storage.stores;
    expect(originals).toBe(records);
    expect(renditions).not.toBe(records);
    expect(storage.targets.map(({ roles }) => roles)).toEqual([["records", "originals"], ["renditions"]]);
    await expect(renditions.put("key", Buffer.alloc(11))).rejects.toMatchObject({ code: "no_space" });
    await storage.close();
  });

  it("names the roles of a store that cannot be opened", async () => {
    const directory = await temporaryDirectory();
    const file = join(directory, "file");
    await writeFile(file, "");
    const wanted: StorageTargets = {
      records: { kind: "file", directory },
      originals: { kind: "file", directory: file },
      renditions: { kind: "file", directory: file },
    };
    await expect(openStorage(wanted)).rejects.toThrow(
      `The storage of originals and renditions, file:${file}, cannot be used: it is not a directory`,
    );
  });
});

describe("openRateLimiter", () => {
  const redis = { kind: "redis", url: "redis://127.0.0.1:1" } as const;
  const s3 = { kind: "s3", bucket: "bucket" } as const;
  const memory = { kind: "memory" } as const;

  it("opens a limiter if records are shared and any role is in Redis", async () => {
    const limiter = await openRateLimiter({ records: s3, originals: s3, renditions: redis });
    expect(limiter).not.toBeNull();
    await limiter?.close();
  });

  it("opens none without Redis, or if other processes cannot share the records", async () => {
    expect(await openRateLimiter({ records: s3, originals: s3, renditions: memory })).toBeNull();
    const file = { kind: "file", directory: "/srv/data" } as const;
    expect(await openRateLimiter({ records: file, originals: file, renditions: redis })).toBeNull();
  });
});
