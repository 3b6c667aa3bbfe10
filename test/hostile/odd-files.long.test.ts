import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { oddGifs } from "../fidelity/samples/gif.ts";
import { oddJpegs, TWO_COMPONENTS } from "../fidelity/samples/jpeg.ts";
import { oddPngs } from "../fidelity/samples/png.ts";
import type { Sample } from "../fidelity/samples/sample.ts";
import { serveHost } from "../support/listen.ts";
import { addressOf, postImage, type Site, startSite, withSite } from "../support/service.ts";
import { everyNth } from "../support/soak.ts";
import { inParallel } from "./in-parallel.ts";
import { oddDocuments } from "./odd-documents.ts";

const FORMATS = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];
/** With `at=attention` the decoder sees the picture once more, to find its place. */
const ADDRESSES = [
  ...FORMATS,
  ...FORMATS.map((format) => `${format}?resize=33x`),
  "png?fit=cover&resize=17x11&at=attention",
];
const AT_ONCE = 4;
/** Files of one test. */
const PART = 40;
const BUSY = 503;
/** A full run takes every fourth file. */
const PART_STEP = 4;

let site: Site;
beforeAll(async () => {
  site = await startSite({ pages: false });
});
afterAll(() => site.close());

/** Repeats what a busy machine refused. */
async function patiently(send: () => Promise<Response>): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    const response = await send();
    if (response.status !== BUSY || attempt === 20) return response;
    await response.arrayBuffer();
    await delay(200 * (attempt + 1));
  }
}

/** What a file answered that it should not. */
async function faultsOf({ name, bytes, type }: Sample): Promise<string[]> {
  const created = await patiently(() => postImage(site, bytes, type));
  const body = await created.text();
  if (created.status !== 201)
    return created.status === 415 ? [] : [`${name}: upload ${created.status} ${body}`];
  const { id } = JSON.parse(body);
  const faults: string[] = [];
  for (const suffix of ADDRESSES) {
    const read = await patiently(() => fetch(addressOf(site, id, suffix)));
    await read.arrayBuffer();
    if (read.status !== 200) faults.push(`${name}: ${suffix} ${read.status}`);
  }
  return faults;
}

describe.each<[string, readonly Sample[]]>([
  ["PNG", everyNth(oddPngs(), PART_STEP)],
  ["JPEG", everyNth(oddJpegs(), PART_STEP)],
  ["GIF", everyNth(oddGifs(), PART_STEP)],
  ["SVG, PSD and PDF", everyNth(oddDocuments(), PART_STEP)],
])("odd files: %s", (_, samples) => {
  test("have different names", () => {
    expect(new Set(samples.map(({ name }) => name)).size).toBe(samples.length);
  });

  test.each(samples.flatMap((_sample, at) => (at % PART === 0 ? [at] : [])))(
    "each file from number %i is refused with 415, or read in every format and size with 200",
    async (from) => {
      const faults: string[] = [];
      await inParallel(samples.slice(from, from + PART), AT_ONCE, async (sample) => {
        faults.push(...(await faultsOf(sample)));
      });
      expect(faults).toEqual([]);
      expect(site.errors.splice(0)).toEqual([]);
    },
  );
});

test("a JPEG of two components is refused with the reason by a form, by URL, in code, and at once where the answer was 202", async () => {
  const files = await serveHost((_, res) => res.setHeader("Content-Type", "image/jpeg").end(TWO_COMPONENTS));
  const reason = "This cannot be read as image/jpeg: it has 2 colour channels.";
  const detail = async (response: Response) => [response.status, (await response.json()).detail];
  try {
    await withSite({ importUrls: { internalHosts: [new URL(files.origin).host] } }, async (own) => {
      expect(await detail(await postImage(own, TWO_COMPONENTS, "image/jpeg"))).toEqual([415, reason]);
      const byUrl = await fetch(`${own.base}/api/images.json`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ url: `${files.origin}/two.jpg` }),
      });
      expect(await detail(byUrl)).toEqual([415, reason]);
      await expect(own.images.add(TWO_COMPONENTS, { type: "image/jpeg" })).rejects.toMatchObject({
        code: "unsupported_media",
        message: reason,
      });
    });
    // A fault of the service would be reported, and tried three times.
    await withSite({ asyncAfterMs: 0 }, async (own) => {
      const created = await postImage(own, TWO_COMPONENTS, "image/jpeg");
      expect(created.status).toBe(202);
      const { id } = await created.json();
      const read = () => fetch(addressOf(own, id, "json"));
      await expect.poll(async () => (await read()).status).not.toBe(202);
      expect(await detail(await read())).toEqual([404, expect.stringContaining(reason)]);
    });
  } finally {
    await files.close();
  }
});
