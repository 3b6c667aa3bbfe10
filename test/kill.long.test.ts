import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import sharp from "sharp";
import { expect, test } from "vitest";
import { serve, temporaryDirectory } from "../packages/server/test/outrigger-process.ts";
import { postWithHeaders, RESPOND_ASYNC } from "./support/post-with-headers.ts";

interface Accepted {
  id: string;
  status: number;
}

/** Uploads and resolves when the head of the answer is there: the rest of it is not waited for. */
async function post(base: string, bytes: Buffer, headers: Record<string, string> = {}): Promise<Accepted> {
  const response = await postWithHeaders({ base }, bytes, "image/png", headers);
  return { id: response.headers.get("x-service-image-id") ?? "", status: response.status };
}

/** Resolves to the first status that is not 202. */
async function lastStatus(address: string): Promise<number> {
  for (;;) {
    const { status } = await fetch(address);
    if (status !== 202) return status;
    await delay(200);
  }
}

/** Paths below the data directory that end in a blob of this name. */
async function blobsNamed(data: string, name: string): Promise<string[]> {
  const paths = await readdir(join(data, "blobs"), { recursive: true });
  return paths.filter((path) => path.endsWith(`/${name}@`));
}

async function largePng(side: number): Promise<Buffer> {
  return sharp({ create: { width: side, height: side, channels: 3, background: "#a53" } })
    .png()
    .toBuffer();
}

test("uploads answered with 202 survive SIGKILL of their process in every phase", async () => {
  const cwd = await temporaryDirectory();
  const data = join(cwd, "data");
  await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify({ images: { asyncAfterMs: 1 } }));
  const picture = await largePng(5000);

  const first = serve(cwd);
  const url = await first.url;
  const accepted = await Promise.all([
    // Under way while it is answered.
    post(url, picture),
    ...Array.from({ length: 5 }, () => post(url, picture, RESPOND_ASYNC)),
  ]);
  first.child.kill("SIGKILL");
  expect(await first.exit).toBe("SIGKILL");
  expect(accepted.map(({ status }) => status)).toEqual(Array(6).fill(202));
  expect((await blobsNamed(data, "upload")).length).toBeGreaterThan(1);

  const again = await serve(cwd).url;
  for (const { id } of accepted) {
    expect([id, await lastStatus(`${again}/${id}`)]).toEqual([id, 200]);
    const bytes = Buffer.from(await (await fetch(`${again}/api/images/${id}.png`)).arrayBuffer());
    expect(bytes.equals(picture)).toBe(true);
    const record = await (await fetch(`${again}/api/images/${id}.json`)).json();
    expect(record).toMatchObject({ id, status: "ready", width: 5000, height: 5000 });
  }
  // The last steps follow the moment from which it can be read.
  await expect.poll(() => blobsNamed(data, "upload")).toEqual([]);
});
