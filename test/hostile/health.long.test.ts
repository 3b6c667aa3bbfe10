import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createRenderer } from "@outrigger/imaging";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pngPhoto } from "../support/pictures.ts";
import { addressOf, type Site, startSite, upload } from "../support/service.ts";
import { type Ammunition, fire } from "./barrage.ts";
import { bombs } from "./bombs.ts";
import { soundFiles } from "./damaged-files.ts";
import { type HostLog, keepHostLog } from "./host-log.ts";
import { createRandom } from "./random.ts";
import { startRegularClient } from "./regular-client.ts";
import { type Watch, watchSite } from "./watch-site.ts";

const MAX_GROWTH_BYTES = 64 * 1024 * 1024;
/** Bombs that are rejected quickly; the expensive ones have their own test. */
const MAX_BOMB_BYTES = 100_000;

let site: Site;
let watch: Watch;
let picture: Buffer;
let ammunition: Ammunition;
const stored: string[] = [];
let hostLog: HostLog;

beforeAll(async () => {
  hostLog = keepHostLog();
  site = await startSite({
    host: "Koa 3",
    uploadIdleMs: 500,
    renderer: createRenderer({ timeoutMs: 1500 }),
  });
  watch = await watchSite(site);
  picture = await pngPhoto(120, 90);
  const { id } = await upload(site, picture, "image/png");
  stored.push(id);
  ammunition = {
    id,
    bombs: (await bombs()).filter(({ ends, bytes }) => ends !== "dear" && bytes.length <= MAX_BOMB_BYTES),
    files: await soundFiles(),
  };
});
afterAll(async () => {
  await site.close();
  hostLog.restore();
});

/** Resident memory of this process, which is the host, after a garbage collection. */
function settledMemory(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void; // The flag adds it to new contexts.
  collect();
  return process.memoryUsage.rss();
}

/** What the process had in use after the first barrage, in bytes. */
let usual = 0;

test.each([31, 32])(
  "a barrage of all bad inputs (seed %i) causes no crash, no hang and no 5xx, and other clients are served meanwhile",
  async (seed) => {
    const regular = startRegularClient(site, { url: addressOf(site, ammunition.id, "png"), bytes: picture });
    const { complaints, statuses, stored: kept } = await fire(site, ammunition, createRandom(seed));
    const experience = await regular.stop();
    stored.push(...kept);

    expect(complaints).toEqual([]);
    for (const status of [200, 201, 400, 404, 408, 413, 415])
      expect(statuses.get(status), `${status}`).toBeGreaterThan(0);
    expect(experience.complaints).toEqual([]);
    expect(experience.requests).toBeGreaterThan(25);
    usual ||= settledMemory();
  },
);

test("after the barrages the process holds no more resources than before", async () => {
  expect(settledMemory() - usual).toBeLessThan(MAX_GROWTH_BYTES);
  await watch.expectUnharmed(stored);
  expect(site.errors).toEqual([]);
  expect(hostLog.unexpected()).toEqual([]);
  const response = await fetch(addressOf(site, ammunition.id, "png"));
  expect(Buffer.from(await response.arrayBuffer()).equals(picture)).toBe(true);
});
