import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFsBlobStore } from "@outrigger/core";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/outrigger-process.ts";
import { checkInodes, checkSpace, checkStorage } from "./check-storage.ts";

describe("checkStorage", () => {
  it("leaves every file and directory of a store unchanged", async () => {
    const data = join(await temporaryDirectory(), "data");
    const store = createFsBlobStore({ directory: data });
    await store.put("kept", Buffer.from("kept"));
    const before = await readdir(data, { recursive: true });
    const [directory, space] = await checkStorage(data);
    expect(directory).toEqual({ check: "data directory", status: "ok", detail: data });
    expect(space).toMatchObject({
      check: "free space",
      detail: expect.stringMatching(/^\d+\.\d GB \(\d+ %\)$/),
    });
    expect(await readdir(data, { recursive: true })).toEqual(before);
    await store.close();
  });

  it("checks a missing directory without creating it", async () => {
    const above = await temporaryDirectory();
    const data = join(above, "not", "yet");
    const [directory] = await checkStorage(data);
    expect(directory).toMatchObject({ status: "ok", detail: `${data}, which can be created` });
    expect(await readdir(above)).toEqual([]);
  });

  it("reports a file at the path of the directory, of a parent or of a subdirectory", async () => {
    const above = await temporaryDirectory();
    const file = join(above, "file");
    await writeFile(file, "");
    await mkdir(join(above, "data"));
    await writeFile(join(above, "data", "blobs"), "");
    for (const data of [file, join(file, "below"), join(above, "data")]) {
      expect(await checkStorage(data)).toEqual([
        {
          check: "data directory",
          status: "problem",
          detail: `${data} cannot be used: it is not a directory`,
          remedy: "Fix this, or set another directory with --data",
        },
      ]);
    }
    expect((await readdir(above, { recursive: true })).sort()).toEqual([
      "data",
      join("data", "blobs"),
      "file",
    ]);
  });
});

describe("checkSpace", () => {
  it.each([
    [{ freeBytes: 1e9, totalBytes: 20e9 }, "ok", "1.0 GB (5 %)"],
    [{ freeBytes: 0.99e9, totalBytes: 2e9 }, "warning", "1.0 GB (50 %)"],
    [{ freeBytes: 4.9e9, totalBytes: 100e9 }, "warning", "4.9 GB (5 %)"],
    [{ freeBytes: 0, totalBytes: 0 }, "warning", "0.0 GB (0 %)"],
  ])("rates %o as %s", (space, status, detail) => {
    expect(checkSpace(space)).toMatchObject({ status, detail });
  });
});

describe("checkInodes", () => {
  it("warns below 100,000 free inodes or 10 %, and names the remedy", () => {
    expect(checkInodes(1_000_000, 10_000_000)).toEqual([
      { check: "free inodes", status: "ok", detail: "1000000 of 10000000 (10 %)" },
    ]);
    const remedy = expect.stringMatching(/mkfs\.ext4 -i .* -N .*XFS/);
    expect(checkInodes(99_999, 200_000)).toMatchObject([{ status: "warning", remedy }]);
    expect(checkInodes(900_000, 10_000_000)).toMatchObject([{ status: "warning", remedy }]);
  });

  it("reports nothing for a file system without an inode limit", () => {
    expect(checkInodes(0, 0)).toEqual([]);
  });
});
