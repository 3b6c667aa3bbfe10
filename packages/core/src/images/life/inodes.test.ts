import assert from "node:assert/strict";
import { lstatSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { created } from "../../../test/image-site.ts";
import { createDiskStore, createLifeSite, DAY, HOUR } from "../../../test/life-site.ts";

const IMAGES = 25;
const EDITS = 4;

/** Counts directories and files below a directory. A file with several names counts once. */
function inodesBelow(directory: string): number {
  const names = readdirSync(directory, { recursive: true }) as string[];
  return new Set(names.map((name) => lstatSync(join(directory, name)).ino)).size;
}

/** Directories that images share: by the first characters of their IDs, and by the hour of due entries. */
function sharedDirectories(directory: string): number {
  const namesIn = (path: string) => readdirSync(join(directory, path)).length;
  const hours = readdirSync(join(directory, "due")).map((list) => namesIn(join("due", list)) + 1);
  return namesIn("blobs") + hours.reduce((sum, count) => sum + count, 0);
}

test("an image in a directory takes seven inodes, and edits take none after the sweep a day later", async () => {
  const store = createDiskStore();
  const directory = dirname(dirname(store.spoolDirectory));
  const clock = { now: Date.now() };
  const site = createLifeSite({ store, clock, defaultLifetimeMs: 100 * DAY });
  const images = [];
  for (let index = 0; index < IMAGES; index++) images.push(created(await site.create()));
  // All images have the same bytes, so the index of copies has one directory.
  const fixed = [
    "copies",
    "314",
    "blobs",
    "tmp",
    "own",
    "due",
    "empty",
    "0",
    "superseded",
    "secret",
    "identity@",
    "identity",
  ].length;
  const mostOf = (each: number) => each * IMAGES + sharedDirectories(directory) + fixed;
  expect(inodesBelow(directory)).toBeLessThanOrEqual(mostOf(7));
  for (let edit = 0; edit < EDITS; edit++) {
    for (const { id, pin } of images) {
      const { status } = await site.send("PATCH", `/api/images/${id}.json`, {
        search: `pin=${pin}`,
        fields: { name: `Edit${edit}` },
      });
      assert.equal(status, 200);
    }
  }
  await site.images.sweep();
  // Superseded files stay for a backup copy.
  expect(inodesBelow(directory)).toBeGreaterThanOrEqual(IMAGES * (7 + EDITS));
  clock.now += DAY + HOUR;
  await site.images.sweep();
  expect(inodesBelow(directory)).toBeLessThanOrEqual(mostOf(7));
  for (const { id } of images) {
    expect((await site.send("GET", `/api/images/${id}.json`)).json).toMatchObject({
      name: `Edit${EDITS - 1}`,
    });
  }
  expect(site.errors).toEqual([]);
});
