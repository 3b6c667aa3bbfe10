import { randomBytes } from "node:crypto";
import { link, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFsBlobStore, createImageAdmin } from "@outrigger/core";
import { compare, formatMicros } from "../src/report.mjs";

/** @import { FsBlobStore } from "@outrigger/core" */
/** @import { Bench } from "../src/bench.mjs" */

const LIVE = { full: 100_000, quick: 10_000, smoke: 200 };
/** Enough for the sweep to reach its full rate. */
const CROWD = { full: 1000, quick: 300, smoke: 5 };
const DUE = { full: 100, quick: 100, smoke: 5 };
const ROUNDS = { full: 7, quick: 3, smoke: 1 };
const AT_ONCE = 16;
const ORIGINAL = randomBytes(20_000);
const RENDITION = randomBytes(5_000);
const YEAR_MS = 365 * 86_400_000;
/** Background images need not survive a power cut. */
const UNSYNCED = { sync: async () => {}, syncDirectory: async () => {}, link };
/** With the file operations of a test, which the public type leaves out. */
const createWithFiles =
  /** @type {(options: { directory: string }, files: typeof UNSYNCED) => FsBlobStore} */ (createFsBlobStore);

/** Removes expired images among live ones. */
export async function sweep(/** @type {Bench} */ bench) {
  const { mode } = bench.settings;
  const root = await mkdtemp(join(tmpdir(), "outrigger-sweep-"));
  try {
    const crowded = join(root, "crowded");
    const empty = join(root, "empty");
    const filling = createWithFiles({ directory: crowded }, UNSYNCED);
    await store(filling, LIVE[mode], () => Date.now() + YEAR_MS * (0.01 + 0.9 * Math.random()));

    /** @type {Record<"among" | "alone" | "crowd" | "few", number[]>} */
    const micros = { among: [], alone: [], crowd: [], few: [] };
    for (let round = 0; round < ROUNDS[mode]; round++) {
      micros.among.push(await sweepDue(bench, crowded));
      micros.alone.push(await sweepDue(bench, empty));
      micros.crowd.push(await sweepDue(bench, empty, CROWD[mode]));
      micros.few.push(await sweepDue(bench, empty, CROWD[mode], withoutAbilities));
    }
    const what = `Removing ${DUE[mode]} expired images among ${LIVE[mode].toLocaleString("en")} others, time`;
    const line = { what, ours: micros.among, format: formatMicros };
    const rate = {
      what: `Removing ${CROWD[mode].toLocaleString("en")} expired images with a rendition each, time`,
      peer: "4 at a time, blob by blob, as on other storage",
      ours: micros.crowd,
      theirs: micros.few,
      aim: { atMost: 1 / 3 },
      format: formatMicros,
    };
    return [
      compare(rate),
      compare({ ...line, peer: "with no others", theirs: micros.alone, aim: { atMost: 1.5 } }),
    ];
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Stores images as an upload does. @param {FsBlobStore} into @param {number} count @param {() => number} expiry */
async function store(into, count, expiry) {
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
    ...{
      createdAt,
      updatedAt: createdAt,
      expiresAt,
      gone: null,
      withheld: null,
      processing: null,
      failure: null,
    },
  };
}

/**
 * A store with the abilities of a remote one: its blobs are removed one by one, and few images are swept at a time.
 * @param {FsBlobStore} store
 */
function withoutAbilities(store) {
  const { removeNamed, localPath, ...rest } = store;
  return rest;
}

/**
 * Lets some images expire, and sweeps.
 * @param {Bench} bench @param {string} directory @param {number} due
 * @param {(store: FsBlobStore) => import("@outrigger/core/stores").BlobStore} seenAs
 */
async function sweepDue(bench, directory, due = DUE[bench.settings.mode], seenAs = (store) => store) {
  await store(createWithFiles({ directory }, UNSYNCED), due, () => Date.now() - 1000);
  const admin = createImageAdmin({ storage: seenAs(createFsBlobStore({ directory })) });
  const began = performance.now();
  const { emptied, failed } = await admin.sweep();
  const micros = (performance.now() - began) * 1000;
  bench.checks.that("all that were due were removed, and nothing failed", emptied === due && failed === 0);
  await admin.close();
  return micros;
}
