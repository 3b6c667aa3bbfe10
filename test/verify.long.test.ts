import { cp } from "node:fs/promises";
import { join } from "node:path";
import { createFsBlobStore, createImages } from "@outrigger/core";
import { createHeaderRenderer } from "@outrigger/testing";
import { describe, expect, it } from "vitest";
import { outrigger, ran, temporaryDirectory } from "../packages/server/test/outrigger-process.ts";
import { startHost } from "./support/hosts.ts";
import { pngPhoto } from "./support/pictures.ts";
import { upload } from "./support/service.ts";

const IMAGES = 6;

/** Runs `outrigger images verify --json`. */
async function verified(cwd: string, ...args: string[]) {
  const { code, stdout, stderr } = await ran(cwd, ["images", "verify", "--json", ...args]);
  const lines = stdout.split("\n").filter((line) => line !== "");
  const [report, ...findings] = lines.map((line) => JSON.parse(line)).reverse();
  const repairs = Object.fromEntries(findings.map(({ key, what, repair }) => [key, [what, repair]]));
  return { code, report, repairs, stderr };
}

/** A service that is started on what is there by now. */
async function served<T>(cwd: string, work: (base: string) => Promise<T>): Promise<T> {
  const images = createImages({
    storage: createFsBlobStore({ directory: join(cwd, "data") }),
    renderer: createHeaderRenderer(),
    asyncAfterMs: false,
    sweepEveryMs: false,
    rateLimits: false,
    onError: () => undefined,
  });
  const host = await startHost("node:http", images);
  try {
    return await work(host.base);
  } finally {
    await host.close();
    await images.close();
  }
}

/** A data directory with images. */
async function stocked(): Promise<{ cwd: string; ids: string[] }> {
  const cwd = await temporaryDirectory();
  const ids = await served(cwd, async (base) => {
    const created: string[] = [];
    for (let index = 0; index < IMAGES; index++)
      created.push((await upload({ base }, await pngPhoto(40 + index, 30), "image/png")).id);
    return created;
  });
  return { cwd, ids };
}

async function damageRecords(cwd: string, ids: readonly string[]): Promise<void> {
  const store = createFsBlobStore({ directory: join(cwd, "data") });
  for (const id of ids) await store.put(`${id}/record`, Buffer.from('{"id":'));
  await store.close();
}

function statusesOf(cwd: string, ids: readonly string[]): Promise<number[]> {
  return served(cwd, (base) =>
    Promise.all(ids.map(async (id) => (await fetch(`${base}/api/images/${id}.png`)).status)),
  );
}

const recordsOf = (ids: readonly string[], repair: string | null) =>
  Object.fromEntries(ids.map((id) => [`${id}/record`, ["damaged-record", repair]]));

describe("outrigger images", () => {
  it("verify names damaged images, restores them from a backup, and without one ends as many as it may", async () => {
    const { cwd, ids } = await stocked();
    const damaged = ids.slice(0, 4);
    await cp(join(cwd, "data"), join(cwd, "copy"), { recursive: true });
    expect(await verified(cwd)).toMatchObject({
      code: 0,
      report: { images: IMAGES, defects: 0 },
      repairs: {},
    });
    await damageRecords(cwd, damaged);
    expect(await verified(cwd)).toMatchObject({
      code: 1,
      report: { defects: 4, repaired: 0 },
      repairs: recordsOf(damaged, null),
    });
    expect(await verified(cwd, "--repair", "--yes", "--from", "file:./copy")).toMatchObject({
      code: 0,
      repairs: recordsOf(damaged, "restored"),
    });
    expect(await statusesOf(cwd, ids)).toEqual(Array(IMAGES).fill(200));
    await damageRecords(cwd, damaged);
    const stopped = await verified(cwd, "--repair", "--yes");
    expect([stopped.code, stopped.stderr]).toEqual([
      1,
      expect.stringMatching(/Nothing was removed: that would be 4 of 6 images .* pass --max-removals 4/),
    ]);
    const { code, stderr } = await verified(cwd, "--repair", "--yes", "--max-removals", "4");
    expect([code, stderr]).toEqual([0, expect.stringContaining("Removing 4 of 6 images")]);
    expect(await statusesOf(cwd, ids)).toEqual([410, 410, 410, 410, 200, 200]);
  });

  it("every images command names a damaged record and continues", async () => {
    const { cwd, ids } = await stocked();
    const [a = "", b = ""] = ids;
    await damageRecords(cwd, [a, b]);
    const named = expect.stringMatching(new RegExp(`${a}(?:.|\n)*${b}|${b}(?:.|\n)*${a}`));
    const stats = await ran(cwd, ["images", "stats", "--json"]);
    expect(stats).toMatchObject({ code: 0, stderr: named });
    const states = { damaged: 2, ready: IMAGES - 2 };
    expect(JSON.parse(stats.stdout)).toMatchObject({ images: IMAGES, states });
    const listed = await ran(cwd, ["images", "list", "--state", "damaged", "--json"]);
    expect(listed).toMatchObject({ code: 0, stdout: named });
    const copied = await ran(cwd, ["migrate", "--from", "file:./data", "--to", "file:./copy"]);
    expect(copied).toMatchObject({ code: 1, stderr: named });
    expect(copied.stderr).toContain("2 damaged at the source");
    expect(await ran(cwd, ["images", "withhold", a, "--reason", "Case 4711"])).toMatchObject({ code: 0 });
    expect(await ran(cwd, ["images", "rm", "--yes", b])).toMatchObject({ code: 0, stdout: `${b} deleted\n` });
    expect(await statusesOf(cwd, ids)).toEqual([451, 410, 200, 200, 200, 200]);
    expect(await ran(cwd, ["images", "release", a])).toMatchObject({ code: 0 });
    expect(await statusesOf(cwd, [a])).toEqual([500]);
  });

  it("verify exits with 130 on a signal and with 2 for conflicting options", async () => {
    const { cwd, ids } = await stocked();
    await damageRecords(cwd, ids.slice(0, 1));
    const slow = outrigger(["images", "verify", "--rate", "0.001"], { cwd });
    // The first finding: it is at work.
    await slow.url;
    slow.child.kill("SIGINT");
    expect(await slow.exit).toBe(130);
    expect(slow.output.stderr).toContain("outrigger: Stopped.");
    for (const [args, why] of [
      [["--repair"], "--yes: is required"],
      [["--from", "file:./data"], "--from: needs --repair"],
      [["--repair", "--yes", "--from", "file:./data"], "--from: must differ from the storage being repaired"],
      [["--rate", "fast"], "must be a number of MB/s"],
    ] as const) {
      const { code, stderr } = await ran(cwd, ["images", "verify", ...args]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
    }
  });
});
