import { execFile } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createFsBlobStore, createImages } from "@outrigger/core";
import { createHeaderRenderer } from "@outrigger/testing";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/outrigger-process.ts";
import { checkSpace, checkStorage, checkTarget } from "./check-storage.ts";

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
      detail: expect.stringMatching(/^\d+ % free$/),
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
  const stats = {
    type: 0,
    bsize: 1e6,
    blocks: 20_000,
    bfree: 1000,
    bavail: 1000,
    files: 10_000_000,
    ffree: 1_000_000,
  };

  it.each([
    [{}, "ok", "5 % free"],
    [{ blocks: 2000, bavail: 990 }, "warning", "49 % free"],
    [{ blocks: 100_000, bavail: 4900 }, "warning", "4 % free"],
    [{ blocks: 0, bavail: 0 }, "warning", "0 % free"],
  ])("rates the space of %j as %s", (some, status, detail) => {
    expect(checkSpace({ ...stats, ...some })[0]).toMatchObject({ check: "free space", status, detail });
  });

  it("warns below 100,000 free inodes or 10 %, and names the remedy", () => {
    expect(checkSpace(stats)[1]).toEqual({ check: "free inodes", status: "ok", detail: "10 % free" });
    const remedy = expect.stringMatching(/XFS.*mkfs\.ext4 -i/);
    for (const few of [
      { ffree: 99_999, files: 200_000 },
      { ffree: 900_000, files: 10_000_000 },
    ])
      expect(checkSpace({ ...stats, ...few })[1]).toMatchObject({ status: "warning", remedy });
  });

  it("reports no inodes for a file system without an inode limit", () => {
    expect(checkSpace({ ...stats, ffree: 0, files: 0 })).toHaveLength(1);
  });
});

it("doctor warns of events that were given up, and of events that wait for more than an hour", async () => {
  const directory = join(await temporaryDirectory(), "data");
  const store = createFsBlobStore({ directory });
  const storage = { ...store, close: async () => {} };
  const images = createImages({ storage, renderer: createHeaderRenderer() });
  await images.ready();
  await images.close();
  const findings = () => checkTarget({ target: { kind: "file", directory }, roles: ["records"] });
  expect((await findings()).filter(({ check }) => check === "events")).toEqual([]);
  const id = "kY3vN0cWQe2l8Zr5tXh1aA";
  const at = Date.now() - 2 * 3_600_000;
  await store.addDue("events", { id: `${id}_${at.toString(36)}`, dueMs: Date.now() + 60_000 });
  await store.addDue("deadevents", { id, dueMs: at });
  expect(await findings()).toContainEqual({
    check: "events",
    status: "warning",
    detail: `events of 1 images were given up in the last 30 days, and events of 1 images wait, the oldest since ${new Date(at).toISOString()}`,
    remedy: 'Find "webhook failed" in the log, and repair the receiver or remove it from images.webhooks',
  });
  await store.close();
});

it("doctor warns of reports that are overdue", async () => {
  const directory = join(await temporaryDirectory(), "data");
  const images = createImages({
    storage: createFsBlobStore({ directory }),
    renderer: createHeaderRenderer(),
  });
  await images.ready();
  // Its sweep would remove the reports, since there are no such images.
  await images.close();
  const storage = createFsBlobStore({ directory });
  const id = "kY3vN0cWQe2l8Zr5tXh1aA";
  const report = { reference: "23456789AB", count: 1, reasons: ["other"], statements: [], contacts: [] };
  for (const [image, dueAt] of [
    [id, Date.now() - 1000],
    [`${id.slice(0, -1)}B`, Date.now() + 60_000],
  ] as const) {
    const cases = [{ ...report, receivedAt: 0, dueAt, decision: null }];
    await storage.addDue("reports", { id: image, dueMs: dueAt });
    await storage.put(`reports/${image}`, Buffer.from(JSON.stringify({ v: 1, cases })));
  }
  await storage.close();
  const findings = await checkTarget({ target: { kind: "file", directory }, roles: ["records"] });
  expect(findings).toContainEqual({
    check: "reports",
    status: "warning",
    detail: "1 reported images should be decided by now",
    remedy: "List them by outrigger images reports --state open, and decide each by withhold, rm or keep",
  });
});

it.runIf(process.getuid?.() === 0)(
  "doctor names a directory that root wrote over the data of another user, and its remedy",
  async () => {
    const directory = join(await temporaryDirectory(), "data");
    await createFsBlobStore({ directory }).put(`${"r".repeat(22)}/record`, Buffer.from("{}"));
    const foreign = join(directory, "blobs", "rr");
    await promisify(execFile)("chown", ["-R", "65534", dirname(directory)]);
    await promisify(execFile)("chown", ["-R", "0", foreign]);
    const module = new URL("../../../dist/commands/doctor/check-storage.js", import.meta.url);
    const script = `
    const { checkTarget } = await import(${JSON.stringify(module.href)});
    process.setegid(65534);
    process.seteuid(65534);
    const target = { kind: "file", directory: ${JSON.stringify(directory)} };
    console.log(JSON.stringify(await checkTarget({ target, roles: ["records"] })));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
    const findings: { check: string; status: string; detail: string }[] = JSON.parse(stdout);
    expect(findings.find(({ check }) => check === "records")).toMatchObject({
      status: "problem",
      detail: `cannot be read: this user has no access to ${foreign}; as root, chown -R 65534 ${foreign} gives it`,
    });
    expect(findings.length).toBeGreaterThan(1);
  },
);
