// Nightly: fills file systems of its own, of bytes and of inodes.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type OutriggerProcess,
  serve,
  temporaryDirectory,
} from "../../packages/server/test/outrigger-process.ts";
import { pngPhoto } from "../support/pictures.ts";
import { run } from "../support/programs.ts";
import { edit, type HeldPicture, heldFrom, nameOf, read, remove, send } from "./disk/client.ts";
import { giveBack, takeAllBytes, takeAllInodes, takeBytes, takeInodes } from "./disk/fill-disk.ts";
import { startHostProcess } from "./disk/host-process.ts";
import { leftovers, withBytes } from "./disk/look-into-data.ts";
import { type Mounts, openMounts, whyNoMounts } from "./disk/mounts.ts";

const trouble = whyNoMounts();
const remark = trouble === null ? "" : ` (${trouble})`;
const testWithMounts = test.skipIf(trouble !== null);

/** Ways in which a disk is full, and how another process fills it. */
const DISKS = [
  ["bytes", { size: "4m", inodes: 0, take: takeBytes, takeAll: takeAllBytes }],
  ["inodes", { size: "64m", inodes: 300, take: takeInodes, takeAll: takeAllInodes }],
] as const;

const CLIENTS = 4;
const BOUND_MS = 20_000;
const BRIEF_MS = 5_000;

let disks = 0;
let mounts: Mounts | null = null;
beforeAll(async () => {
  if (trouble === null) mounts = await openMounts();
});
afterAll(async () => {
  await mounts?.close();
});

async function newDisk(size: string, inodes: number): Promise<string> {
  if (mounts === null) throw new Error("This machine cannot mount file systems");
  const options = `size=${size},nr_inodes=${inodes}`;
  return mounts.mount(`disk-${disks++}`, ["-t", "tmpfs", "-o", options, "none"]);
}

async function start(data: string): Promise<OutriggerProcess & { base: string }> {
  const cwd = await temporaryDirectory();
  const images = { asyncAfterMs: false, rateLimits: false, memoryBytes: 0 };
  await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify({ data, images }));
  const server = serve(cwd);
  return { ...server, base: await server.url };
}

/** Fails on any reply but success or a correct 507. @returns whether there was room. */
async function hadRoom(response: Response, success: number): Promise<boolean> {
  if (response.status === success) return true;
  const body = await response.text();
  expect(response.status, body).toBe(507);
  expect(response.headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
  expect(JSON.parse(body)).toMatchObject({ status: 507, title: "Insufficient Storage" });
  return false;
}

/** Renames a picture. @returns the reply, and the resulting name. */
async function rename(base: string, picture: HeldPicture): Promise<{ isDone: boolean; name: string }> {
  const isDone = await hadRoom(await edit(base, picture, { name: "new" }), 200);
  return { isDone, name: await nameOf(base, picture) };
}

/** Uploads from several clients at once until each was refused twice in a row. @returns the acknowledged pictures. */
async function uploadUntilFull(base: string, bytes: Buffer): Promise<HeldPicture[]> {
  const held: HeldPicture[] = [];
  const client = async () => {
    for (let refusals = 0; refusals < 2; ) {
      const response = await send(base, bytes, { name: "as it came" });
      if (await hadRoom(response, 201)) {
        held.push(await heldFrom(response, bytes));
        refusals = 0;
      } else refusals++;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return held;
}

async function expectWhole(base: string, held: readonly HeldPicture[]): Promise<void> {
  for (const picture of held) {
    const { status, body } = await read(base, picture);
    expect([picture.id, status, body.equals(picture.bytes)]).toEqual([picture.id, 200, true]);
  }
}

/** Work after a reply takes some time. */
async function expectNoLeftovers(data: string, held: readonly HeldPicture[]): Promise<void> {
  const deadline = Date.now() + BOUND_MS;
  while ((await leftovers(data, held)).length > 0 && Date.now() < deadline) await delay(50);
  expect(await leftovers(data, held)).toEqual([]);
}

describe.each(DISKS)(`on a disk full of %s${remark}`, (_full, { size, inodes, take, takeAll }) => {
  testWithMounts("uploads answer 507 until there is room, and acknowledged pictures stay", async () => {
    const disk = await newDisk(size, inodes);
    const data = join(disk, "data");
    await take(disk);
    const { base } = await start(data);
    const large = await uploadUntilFull(base, await pngPhoto(400, 300));
    expect(large.length).toBeGreaterThan(5);
    await expectNoLeftovers(data, large);
    const tiny = await pngPhoto(30, 20);
    const held = [...large, ...(await uploadUntilFull(base, tiny))];
    await expectNoLeftovers(data, held);
    await expectWhole(base, held);

    await takeAll(disk);
    expect(await hadRoom(await send(base, tiny, { name: "none" }), 201)).toBe(false);
    await expectNoLeftovers(data, held);
    await expectWhole(base, held);

    await giveBack(disk);
    const response = await send(base, tiny, { name: "again" });
    expect(response.status).toBe(201);
    await expectWhole(base, [await heldFrom(response, tiny)]);
  });

  testWithMounts("pictures can be read in every form and deleted, but not edited", async () => {
    const disk = await newDisk(size, inodes);
    const data = join(disk, "data");
    await take(disk);
    const { base } = await start(data);
    const bytes = await pngPhoto(400, 300);
    const upload = async (name: string) => heldFrom(await send(base, bytes, { name }), bytes);
    const [edited, removed] = await Promise.all([upload("old"), upload("old")]);
    await takeAll(disk);

    for (const suffix of ["jpg", "webp?resize=100x100", "jpg"]) {
      const { status, body } = await read(base, edited, suffix);
      expect(status).toBe(200);
      await expect(sharp(body).stats()).resolves.toBeDefined();
    }
    expect(await rename(base, edited)).toEqual({ isDone: false, name: "old" });
    expect((await remove(base, removed)).status).toBe(204);
    expect((await read(base, removed)).status).toBe(410);
    await expectNoLeftovers(data, [edited, removed]);

    await giveBack(disk);
    expect(await rename(base, edited)).toEqual({ isDone: true, name: "new" });
    expect((await remove(base, removed)).status).toBe(410);
    await expectWhole(base, [edited]);
  });

  testWithMounts("expired pictures still answer 410 and are removed", async () => {
    const disk = await newDisk(size, inodes);
    const data = join(disk, "data");
    const host = await startHostProcess(data, { sweepEveryMs: 1000 });
    try {
      const bytes = await pngPhoto(400, 300);
      const expiresAt = Date.now() + BRIEF_MS;
      const upload = async (name: string) =>
        heldFrom(await send(host.base, bytes, { name, expiresAt }), bytes);
      const brief = await Promise.all([upload("one"), upload("two"), upload("three")]);
      await takeAll(disk);
      expect(Date.now()).toBeLessThan(expiresAt);
      const deadline = Date.now() + BOUND_MS;
      while ((await withBytes(data, brief)).length > 0 && Date.now() < deadline) await delay(50);
      expect(await withBytes(data, brief)).toEqual([]);
      for (const picture of brief) expect((await read(host.base, picture)).status).toBe(410);
    } finally {
      await host.kill();
    }
  });
});

testWithMounts(`deleting a picture makes room for another${remark}`, async () => {
  const data = join(await newDisk("4m", 0), "data");
  const { base } = await start(data);
  const bytes = await pngPhoto(400, 300);
  const held = await uploadUntilFull(base, bytes);
  for (const picture of held.slice(0, 5)) {
    expect((await remove(base, picture)).status).toBe(204);
    expect((await send(base, bytes, { name: "instead" })).status).toBe(201);
  }
  await expectWhole(base, held.slice(5));
});

testWithMounts(`the check finds a store that acknowledges writes it had no room for${remark}`, async () => {
  const disk = await newDisk("4m", 0);
  const host = await startHostProcess(join(disk, "data"), { leftOut: "refusals" });
  try {
    const bytes = await pngPhoto(30, 20);
    const picture = await heldFrom(await send(host.base, bytes, { name: "old" }), bytes);
    await takeAllBytes(disk);
    expect(await rename(host.base, picture)).toEqual({ isDone: true, name: "old" });
  } finally {
    await host.kill();
  }
});

test("a file over the process' file size limit answers 507 and leaves no files", async () => {
  const data = join(await temporaryDirectory(), "data");
  const { base, child } = await start(data);
  const [large, tiny] = [await pngPhoto(400, 300), await pngPhoto(30, 20)];
  const held = await heldFrom(await send(base, large, { name: "before" }), large);
  await limitFileSize(child.pid, 64 * 1024);
  expect(await hadRoom(await send(base, large, { name: "over" }), 201)).toBe(false);
  const small = await heldFrom(await send(base, tiny, { name: "below" }), tiny);
  await expectNoLeftovers(data, [held, small]);
  await expectWhole(base, [held, small]);
  await limitFileSize(child.pid, 1024 ** 3);
  const after = await heldFrom(await send(base, large, { name: "after" }), large);
  await expectWhole(base, [held, small, after]);
});

async function limitFileSize(pid: number | undefined, bytes: number): Promise<void> {
  const { status, stderr } = await run("prlimit", [`--pid=${pid}`, `--fsize=${bytes}:unlimited`]);
  if (status !== 0) throw new Error(stderr);
}
