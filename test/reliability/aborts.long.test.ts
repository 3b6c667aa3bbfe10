import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Service } from "@outrigger/core";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { serve, temporaryDirectory } from "../../packages/server/test/outrigger-process.ts";
import { fetchReply } from "../../packages/testing/src/adapter/http-client.ts";
import { amount } from "../support/soak.ts";
import { abortDownloads } from "./clients/abort-downloads.ts";
import { abortUploads, uploadWhole } from "./clients/abort-uploads.ts";
import { type ChangedImages, startChangedImages } from "./clients/changed-images.ts";
import {
  closeKept,
  LEAK_NAMES,
  type LeakName,
  leakyDownloads,
  leakyUploads,
} from "./clients/leaky-services.ts";
import { leftovers, settledHoldings } from "./clients/leftovers.ts";
import { noisePng } from "./clients/noise-png.ts";
import { servedTarget, type Target } from "./clients/target.ts";

/** Time for the service to notice the last aborted upload and clean up. */
const PATIENCE_MS = 60_000;
const NO_LIMITS = { images: { rateLimits: false, asyncAfterMs: false } };

let picture: Buffer;
let largePicture: Buffer;
beforeAll(async () => {
  // More than is buffered before the first write to disk, and more than all buffers between both ends.
  picture = await noisePng(900, 700);
  largePicture = await noisePng(2000, 2000);
});

describe("aborted transfers", () => {
  it("aborted uploads leave no files and no open descriptors", async () => {
    const target = await startServing();
    expect((await uploadWhole(target, picture)).status).toBe(201);
    const before = await settledHoldings(target);
    await abortUploads(target, amount(160, 1000), picture);
    expect(await leftovers(target, before, PATIENCE_MS)).toEqual([]);
    expect((await uploadWhole(target, picture)).status).toBe(201);
    expect(target.errors()).toEqual([]);
  });

  it("aborted downloads leave no open descriptors", async () => {
    const target = await startServing();
    const { url } = await uploadWhole(target, largePicture);
    // The stored file is read from disk; a rendition is in memory after its first request.
    for (const suffix of ["png", "jpg"]) {
      const address = `${target.base}/api/images/${url.split("/").at(-1)}.${suffix}`;
      const { status, body } = await fetchReply(address);
      expect(status).toBe(200);
      const before = await settledHoldings(target);
      await abortDownloads(address, body.length, amount(60, 400));
      expect(await leftovers(target, before, PATIENCE_MS)).toEqual([]);
      expect((await fetchReply(address)).body.equals(body)).toBe(true);
    }
    expect(target.errors()).toEqual([]);
  });
});

describe("the check for leftovers of aborted transfers", () => {
  const started: ChangedImages[] = [];
  afterEach(async () => {
    for (const images of started.splice(0)) await images.close();
    await closeKept();
  });

  async function startChanged(change: (images: Service) => Service): Promise<Target> {
    const images = await startChangedImages(await temporaryDirectory(), change);
    started.push(images);
    return images;
  }

  it("the check finds no leftovers without aborts", async () => {
    const target = await startChanged((images) => images);
    expect((await uploadWhole(target, picture)).status).toBe(201);
    const before = await settledHoldings(target);
    await abortUploads(target, 32, picture);
    expect(await leftovers(target, before, PATIENCE_MS)).toEqual([]);
  });

  const complaints: Record<LeakName, RegExp> = {
    "keeps the spooled file": /files left in tmp/,
    "keeps it as if it were whole": /files left in blobs/,
    "keeps a descriptor": /descriptors more/,
  };
  it.each(LEAK_NAMES)("the check catches a service whose aborted upload leaks: it %s", async (leak) => {
    const target = await startChanged((images) => leakyUploads(images, leak));
    const before = await settledHoldings(target);
    await abortUploads(target, 16, picture);
    expect((await leftovers(target, before, 1000)).join("\n")).toMatch(complaints[leak]);
  });

  it("the check catches a service that keeps aborted downloads open", async () => {
    const target = await startChanged(leakyDownloads);
    const { url } = await uploadWhole(target, largePicture);
    const address = `${target.base}/api/images/${url.split("/").at(-1)}.png`;
    const before = await settledHoldings(target);
    await abortDownloads(address, largePicture.length, 20);
    expect((await leftovers(target, before, 1000)).join("\n")).toMatch(/descriptors more/);
  });
});

async function startServing(): Promise<Target> {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify(NO_LIMITS));
  return servedTarget(serve(cwd), join(cwd, "data"));
}
