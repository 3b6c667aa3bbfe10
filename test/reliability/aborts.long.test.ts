import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { serve, temporaryDirectory } from "../../packages/server/test/outrigger-process.ts";
import { fetchReply } from "../../packages/testing/src/adapter/http-client.ts";
import { amount } from "../support/soak.ts";
import { abortDownloads } from "./clients/abort-downloads.ts";
import { abortUploads, uploadWhole } from "./clients/abort-uploads.ts";
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

async function startServing(): Promise<Target> {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify(NO_LIMITS));
  return servedTarget(serve(cwd), join(cwd, "data"));
}
