import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { expect, test } from "vitest";
import { serve, temporaryDirectory } from "../../packages/server/test/outrigger-process.ts";
import { amount, isSoak } from "../support/soak.ts";
import { startHost } from "./crash/host-process.ts";
import { temporaryDirectories, temporaryFiles } from "./crash/left-overs.ts";
import { sampleOf, trim, verifyEntries, verifySwept, verifyUnacknowledged } from "./crash/verify.ts";
import { type Clients, write } from "./crash/writers.ts";

const KILLS = amount(6, 1000);
/** One kill in this many is of the real server, which starts more slowly. */
const REAL_EVERY = 4;
/** A kill comes after a random number of replies up to this one. */
const MOST_ANSWERS = 30;

interface Killable {
  base: string;
  kill(): Promise<unknown>;
}

/** Real pictures of 1 to 3 MB. */
function makePictures(): Promise<Buffer[]> {
  const heights = [480, 640, 800, 960, 1120, 1280];
  return Promise.all(
    heights.map((height) =>
      sharp(randomBytes(750 * height * 3), { raw: { width: 750, height, channels: 3 } })
        .png({ compressionLevel: 0 })
        .toBuffer(),
    ),
  );
}

async function startServer(cwd: string): Promise<Killable> {
  const server = serve(cwd);
  const base = await server.url;
  return {
    base,
    kill() {
      server.child.kill("SIGKILL");
      return server.exit;
    },
  };
}

test("kill -9 at any moment loses no acknowledged change, and no partial image is served", async () => {
  const cwd = await temporaryDirectory();
  const data = join(cwd, "data");
  const images = { rateLimits: false, asyncAfterMs: false, memoryBytes: 0 };
  await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify({ data, images }));
  const pictures = await makePictures();
  const clients: Clients = { entries: [], violations: [], answers: 0 };
  const known = new Set<string>();

  const start = (round: number): Promise<Killable> =>
    round % REAL_EVERY === 0 ? startServer(cwd) : startHost(data);
  for (let round = 0; round <= KILLS; round++) {
    // The last service is only used to verify every image ever acknowledged.
    const isLast = round === KILLS;
    const service = isLast ? await startHost(data) : await start(round);
    await expect.poll(() => temporaryFiles(data)).toEqual([]);
    expect(await temporaryDirectories(data)).toHaveLength(1);
    await verifyEntries(service.base, clients, isLast ? clients.entries : sampleOf(clients));
    await verifyUnacknowledged(service.base, data, { clients, pictures, known });
    if (isLast) clients.violations.push(...(await verifySwept(service.base, data)));
    else await trim(service.base, clients);
    expect(clients.violations).toEqual([]);
    let isKilled = false;
    const writing = isLast ? null : write(service.base, clients, pictures, () => isKilled);
    if (!isLast) {
      const enough = clients.answers + 1 + Math.floor(Math.random() * MOST_ANSWERS);
      await expect.poll(() => clients.answers, { interval: 1 }).toBeGreaterThanOrEqual(enough);
    }
    isKilled = true;
    await service.kill();
    await writing;
  }
  if (isSoak) console.log(`${KILLS} kills, ${clients.answers} answers, ${clients.entries.length} images`);
  expect(clients.answers).toBeGreaterThan(KILLS);
});
