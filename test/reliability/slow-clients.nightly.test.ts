// Nightly: measures replies beside hundreds of slow clients, so it needs a quiet machine.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Service } from "@outrigger/core";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { serve, temporaryDirectory } from "../../packages/server/test/outrigger-process.ts";
import { fetchReply } from "../../packages/testing/src/adapter/http-client.ts";
import { atOnce } from "../support/at-once.ts";
import { amount, isSoak } from "../support/soak.ts";
import { uploadWhole } from "./clients/abort-uploads.ts";
import { type ChangedImages, startChangedImages } from "./clients/changed-images.ts";
import { beGoodClient, complaintsAbout, type GoodService, quantile } from "./clients/good-client.ts";
import { type Holdings, leftovers, settledHoldings } from "./clients/leftovers.ts";
import { noisePng } from "./clients/noise-png.ts";
import { startSlowClients } from "./clients/slow-clients.ts";
import { servedTarget, type Target } from "./clients/target.ts";
import { uncutClients } from "./clients/uncut-clients.ts";
import { hardWorking, oneAtATime } from "./clients/unfit-services.ts";

/** Limits for a good client. With few reads, one slow moment of the machine is already more than 1 %. */
const GOOD = { share: isSoak ? 0.99 : 0.95, withinMs: 500 };
const NO_RATE_LIMITS = { images: { rateLimits: false, asyncAfterMs: false } };
const SHORT_TIMEOUTS = {
  keepAliveMs: 1000,
  images: { rateLimits: false, asyncAfterMs: false, uploadIdleMs: 1000 },
};

/** More than the kernel buffers for a client that does not read. */
let largePicture: Buffer;
let smallPicture: Buffer;
beforeAll(async () => {
  largePicture = await noisePng(2000, 2000);
  smallPicture = await noisePng(60, 40);
});

describe("slow clients", () => {
  it("slow clients do not keep a server from answering good clients", {
    timeout: 120_000 + amount(0, 240_000),
  }, async () => {
    const target = await startServing(NO_RATE_LIMITS);
    const { service, before } = await serveAmongSlowClients(
      target,
      amount(300, 1000),
      amount(12_000, 60_000),
      amount(4, 2),
    );
    expect(complaintsAbout(service, GOOD)).toEqual([]);
    expect(await leftovers(target, before, 20_000, ["tmp"])).toEqual([]);
  });

  const limits = [
    { config: SHORT_TIMEOUTS, drips: false, count: amount(300, 1000), patienceMs: 45_000 },
    { config: NO_RATE_LIMITS, drips: true, count: amount(40, 400), patienceMs: 90_000 },
  ];

  it(
    "all slow clients are cut within the configured time, by default in about a minute, even if they drip",
    {
      timeout: 180_000,
    },
    () =>
      atOnce(limits, async ({ config, drips, count, patienceMs }) => {
        const target = await startServing(config);
        const download = await uploadLarge(target);
        const before = await settledHoldings(target);
        expect(await uncutClients(target, { count, download, drips }, patienceMs)).toEqual([]);
        expect(await leftovers(target, before, 10_000)).toEqual([]);
      }),
  );
});

describe("the checks for slow clients", () => {
  const started: ChangedImages[] = [];
  afterEach(async () => {
    for (const images of started.splice(0)) await images.close();
  });

  async function startChanged(change: (images: Service) => Service): Promise<Target> {
    const images = await startChangedImages(await temporaryDirectory(), change);
    started.push(images);
    return images;
  }

  it("the checks catch a server that serves requests one after the other", async () => {
    const target = await startChanged(oneAtATime);
    const { service } = await serveAmongSlowClients(target, 8, 1000, 1);
    expect(complaintsAbout(service, GOOD).join("\n")).toMatch(/requests failed: read: Error: Still waiting/);
  });

  it("the checks catch a server that is too busy to answer", async () => {
    const target = await startChanged((images) => hardWorking(images, 150));
    const { service } = await serveAmongSlowClients(target, 8, 2000, 1);
    expect(complaintsAbout(service, GOOD).join("\n")).toMatch(/% of reads took up to/);
  });

  it("the checks catch a server that cuts no slow client", async () => {
    const target = await startChanged((images) => images);
    const download = await uploadLarge(target);
    const uncut = await uncutClients(target, { count: 8, download, drips: false }, 3000);
    expect(uncut.sort()).toEqual([
      "2 of kind headers",
      "2 of kind idle",
      "2 of kind reader",
      "2 of kind upload",
    ]);
  });
});

/**
 * The good client's results while slow clients reconnect repeatedly, and the service's holdings before they came.
 * @param rounds How often it is retried while the only fault is slow replies: a blocked server is slow every time, a
 * busy machine is not.
 */
async function serveAmongSlowClients(
  target: Target,
  count: number,
  durationMs: number,
  rounds: number,
): Promise<{ service: GoodService; before: Holdings }> {
  const download = await uploadLarge(target);
  const { url } = await uploadWhole(target, smallPicture);
  const hot = `${target.base}/api/images/${url.split("/").at(-1)}.jpg`;
  expect((await fetchReply(hot)).status).toBe(200);
  const before = await settledHoldings(target);
  const clients = { origin: target.base, count, download, drips: true, reopens: true };
  const slow = await startSlowClients(clients);
  let service: GoodService;
  for (let round = 1; ; round++) {
    service = await beGoodClient(target, { hot, picture: smallPicture, durationMs });
    const isSlow = quantile(service.reads, GOOD.share) >= GOOD.withinMs;
    if (!isSlow || service.failures.length > 0 || round === rounds) break;
  }
  const { open } = await slow.report();
  expect(open.headers + open.upload + open.reader + open.idle).toBeGreaterThan(count * 0.8);
  await slow.end();
  return { service, before };
}

/** @returns its path. */
async function uploadLarge(target: Target): Promise<string> {
  const { status, url } = await uploadWhole(target, largePicture);
  expect(status).toBe(201);
  return `${new URL(target.base).pathname.replace(/\/$/, "")}/api/images/${url.split("/").at(-1)}.png`;
}

async function startServing(config: object): Promise<Target> {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify(config));
  return servedTarget(serve(cwd), join(cwd, "data"));
}
