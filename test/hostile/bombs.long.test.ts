import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isServiceError, ServiceError } from "@outrigger/core";
import type { OriginalType, Renderer } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveHost } from "../support/listen.ts";
import { pngPhoto } from "../support/pictures.ts";
import { addressOf, type Created, postImage, type Site, startSite } from "../support/service.ts";
import type { Bomb } from "./bomb.ts";
import { bombsByKind } from "./bombs.ts";
import { inParallel } from "./in-parallel.ts";
import { startRegularClient } from "./regular-client.ts";
import { reachingSvgs } from "./svg-bombs.ts";
import { type Answer, answerOf, expectProblem } from "./verdict.ts";
import { uploadPatiently, type Watch, watchSite } from "./watch-site.ts";

const RENDER_MS = 1500;
const CONVERSIONS = [
  ["png", ""],
  ["jpg", "?resize=200x200"],
  ["psd", "?resize=300x300"],
  ["pdf", "?resize=300x300"],
] as const;

let site: Site;
let watch: Watch;
let renderer: Renderer;
let renders = 0;
const stored: string[] = [];
/** Refused conversions, by their address. */
const failed: string[] = [];

/**
 * The real renderer, its calls counted. On a busy machine a missed deadline is not blamed on the picture. Here each is,
 * as on a quiet machine.
 */
function counted(original: Renderer): Renderer {
  return {
    ...original,
    admit: (...call) => original.admit(...call).catch(blame),
    render(...call) {
      renders++;
      return original.render(...call).catch(blame);
    },
  };
}

function blame(error: unknown): never {
  if (isServiceError(error, "overloaded") && error.message.includes("too busy")) {
    throw new ServiceError("too_costly", error.message);
  }
  throw error;
}

async function whole(asked: Promise<Response>): Promise<Answer & { bytes: Buffer }> {
  const response = await asked;
  const bytes = Buffer.from(await response.arrayBuffer());
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: bytes.toString(),
    bytes,
  };
}

async function blowUp({ title, type, bytes, ends }: Bomb): Promise<void> {
  const created = await whole(postImage(site, bytes, type));
  if (created.status !== 201) {
    expectProblem(created, [415], title);
    return;
  }
  expect(ends, `${title} was accepted`).not.toBe("refused");
  const record: { id: string; type: OriginalType } = JSON.parse(created.body);
  const { id } = record;
  stored.push(id);
  const statuses: number[] = [];
  for (const [format, search] of CONVERSIONS) {
    const url = addressOf(site, id, format) + search;
    const said = `${title} as ${format}${search}`;
    const answer = await whole(fetch(url));
    statuses.push(answer.status);
    if (answer.status === 200) {
      if (format === "psd" || format === "pdf") continue;
      const { width = 0, height = 0 } = await sharp(answer.bytes, { limitInputPixels: false }).metadata();
      if (type === "image/svg+xml") expect(Math.max(width, height), said).toBeLessThanOrEqual(8192);
    } else {
      expectProblem(answer, (renderer.canRender?.(record.type, format) ?? true) ? [415] : [501], said);
      if (answer.status === 415) failed.push(url);
    }
  }
  if (ends === "unreadable") expect(statuses, title).not.toContain(200);
  if (ends === "dear") expect(statuses, title).toContain(415);
}

beforeAll(async () => {
  renderer = counted(createRenderer({ timeoutMs: RENDER_MS }));
  site = await startSite({
    convertUploads: ["webp", "avif", "tiff", "heic"],
    renderer,
  });
  watch = await watchSite(site);
});
afterAll(() => site.close());

test.each(await bombsByKind())(
  "every bomb of %s ends with a reason, while other clients are served as usual",
  async (_, bombs) => {
    const bytes = await pngPhoto(60, 40);
    const { id } = await uploadPatiently(site, bytes);
    stored.push(id);
    const regular = startRegularClient(site, { url: addressOf(site, id, "png"), bytes });
    const outcomes = await Promise.allSettled([inParallel(bombs, 2, blowUp)]);
    const experience = await regular.stop();
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    expect(experience.complaints).toEqual([]);
    // Many more than bombs run at the same time: no read waited behind them.
    expect(experience.requests).toBeGreaterThan(bombs.length);
  },
);

test("a conversion that failed once is refused afterwards without another render", async () => {
  expect(failed.length).toBeGreaterThanOrEqual(3);
  const before = renders;
  for (const url of failed) {
    const again = await whole(fetch(url));
    expectProblem(again, [415], url);
  }
  expect(renders).toBe(before);
});

test("no SVG reads a file or sends a request", async () => {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-reach-"));
  const [path, textFile] = [join(directory, "secret.png"), join(directory, "secret.txt")];
  await sharp({ create: { width: 100, height: 100, channels: 3, background: "#f00" } }).toFile(path);
  await writeFile(textFile, "MMMM");
  let calls = 0;
  const elsewhere = await serveHost((_request, response) => {
    calls++;
    response.end("called");
  });
  try {
    for (const { title, bytes } of reachingSvgs(path, textFile, `${elsewhere.origin}/secret.png`)) {
      const created = await answerOf(await postImage(site, bytes, "image/svg+xml"));
      if (created?.status !== 201) {
        expectProblem(created, [415], title);
        continue;
      }
      const { id } = JSON.parse(created.body) as Created;
      stored.push(id);
      const response = await fetch(addressOf(site, id, "png"));
      const picture = Buffer.from(await response.arrayBuffer());
      expect([200, 415], title).toContain(response.status);
      if (response.status === 200) expect(await redPixels(picture), title).toBe(0);
    }
    expect(calls).toBe(0);
  } finally {
    await elsewhere.close();
    await rm(directory, { recursive: true });
  }
});

async function redPixels(picture: Buffer): Promise<number> {
  const { data, info } = await sharp(picture).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  let count = 0;
  for (let at = 0; at < data.length; at += info.channels) {
    const [red = 0, green = 0, , alpha = 0] = data.subarray(at, at + 4);
    if (red > 128 && green < 128 && alpha > 128) count++;
  }
  return count;
}

test("the bombs leave no file, no descriptor and no unexpected error behind", async () => {
  await watch.expectUnharmed(stored);
  expect(site.errors).toEqual([]);
});
