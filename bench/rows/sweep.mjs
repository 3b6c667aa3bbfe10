import { randomBytes } from "node:crypto";
import { link } from "node:fs/promises";
import { createFsBlobStore, createImageAdmin } from "@outrigger/core";
import { compare } from "../src/report.mjs";

/** @import { FsBlobStore } from "@outrigger/core" */
/** @import { Bench } from "../src/bench.mjs" */

const LIVE = { full: 100_000, quick: 10_000, smoke: 200 };
const DUE = { full: 100, quick: 100, smoke: 5 };
const AT_ONCE = 16;
const ORIGINAL = randomBytes(20_000);
const RENDITION = randomBytes(5_000);
const YEAR_MS = 365 * 86_400_000;
/** Background images need not survive a power cut. */
const UNSYNCED = { sync: async () => {}, syncDirectory: async () => {}, link };
/** With the file operations of a test, which the public type leaves out. */
const createWithFiles =
  /** @type {(options: { directory: string }, files: typeof UNSYNCED) => FsBlobStore} */ (createFsBlobStore);

/** Removes expired images among live ones: the time must not grow with their number. */
export async function measureRow(/** @type {Bench} */ bench) {
  const { mode, rounds } = bench.settings;
  const crowded = await bench.makeDirectory("crowded");
  const empty = await bench.makeDirectory("empty");
  await store(crowded, LIVE[mode], () => Date.now() + YEAR_MS * (0.01 + 0.9 * Math.random()));
  /** @type {Record<"among" | "alone", number[]>} */
  const micros = { among: [], alone: [] };
  for (let round = 0; round < rounds; round++) {
    micros.among.push(await sweepDue(bench, crowded));
    micros.alone.push(await sweepDue(bench, empty));
  }
  return [
    compare({
      what: `Removing ${DUE[mode]} expired images among ${LIVE[mode].toLocaleString("en")} others, time`,
      ours: micros.among,
      peer: "with no others",
      theirs: micros.alone,
      atMost: 1.5,
    }),
  ];
}

/** Stores images as an upload does. @param {string} directory @param {number} count @param {() => number} expiry */
async function store(directory, count, expiry) {
  const into = createWithFiles({ directory }, UNSYNCED);
  let left = count;
  const work = async () => {
    while (left-- > 0) {
      const expiresAt = Math.floor(expiry());
      const id = randomBytes(16).toString("base64url");
      await into.put(`${id}/record`, Buffer.from(JSON.stringify(recordOf(id, expiresAt))));
      await into.addDue("images", { id, dueMs: expiresAt });
      // Originals of the live images would only take space.
      if (expiresAt >= Date.now()) continue;
      await into.put(`${id}/original`, ORIGINAL);
      await into.put(`${id}/renditions/w320.webp`, RENDITION);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** @param {string} id @param {number} expiresAt */
function recordOf(id, expiresAt) {
  const createdAt = expiresAt - YEAR_MS;
  return {
    ...{ v: 1, id, name: "picture.png", type: "image/png", size: ORIGINAL.length, sha256: "00".repeat(32) },
    ...{ width: 100, height: 100, pages: 1, agent: null, owner: null },
    ...{ createdAt, updatedAt: createdAt, expiresAt },
    ...{ gone: null, withheld: null, processing: null, failure: null },
  };
}

/** Lets some images expire, and sweeps. @param {Bench} bench @param {string} directory */
async function sweepDue({ settings, checks }, directory) {
  const due = DUE[settings.mode];
  await store(directory, due, () => Date.now() - 1000);
  const admin = createImageAdmin({ storage: createFsBlobStore({ directory }) });
  const began = performance.now();
  const { emptied, failed } = await admin.sweep();
  const micros = (performance.now() - began) * 1000;
  checks.that("all that were due were removed, and nothing failed", emptied === due && failed === 0);
  await admin.close();
  return micros;
}
