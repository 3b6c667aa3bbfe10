import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFsBlobStore } from "@outrigger/core";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/outrigger-process.ts";
import { checkFree, checkStorage } from "./check-storage.ts";

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

describe("checkFree", () => {
  it.each([
    [1e9, 20e9, "ok", "1.0 GB (5 %)"],
    [0.99e9, 2e9, "warning", "1.0 GB (50 %)"],
    [4.9e9, 100e9, "warning", "4.9 GB (5 %)"],
  ])("rates %j of %j bytes as %s", (free, total, status, detail) => {
    expect(checkFree("free space", free, total)).toMatchObject([{ status, detail }]);
  });

  it("warns below 100,000 free inodes or 10 %, and names the remedy", () => {
    expect(checkFree("free inodes", 1_000_000, 10_000_000)).toEqual([
      { check: "free inodes", status: "ok", detail: "1000000 (10 %)" },
    ]);
    const remedy = expect.stringMatching(/XFS.*mkfs\.ext4 -i/);
    expect(checkFree("free inodes", 99_999, 200_000)).toMatchObject([{ status: "warning", remedy }]);
    expect(checkFree("free inodes", 900_000, 10_000_000)).toMatchObject([{ status: "warning", remedy }]);
  });

  it("reports nothing for a file system without a limit", () => {
    expect(checkFree("free inodes", 0, 0)).toEqual([]);
  });
});
