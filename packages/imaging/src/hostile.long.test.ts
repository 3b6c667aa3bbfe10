import type { Renderer } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, describe, expect, test } from "vitest";
import { admitInfo } from "../test/admit-bytes.ts";
import { peakBytes, workersOf } from "../test/child-processes.ts";
import { type GifFrame, sparseGif } from "../test/hostile-gifs.ts";
import { hostileSvgs, svg } from "../test/hostile-svgs.ts";

const TIMEOUT_MS = 1500;
const renderer = createRenderer({ timeoutMs: TIMEOUT_MS });
afterAll(() => renderer.close());

const SVG = "image/svg+xml";
/** Codes of a refusal by content or cost, or of a stop because the test machine was busy. */
const ENDED = /^(?:unsupported_media|too_costly|overloaded)$/;
const plain = { bytes: Buffer.from(svg(9, '<rect width="9" height="9"/>')) };

/** A small picture for another client. */
async function renderPlain(by: Renderer = renderer): Promise<void> {
  const { bytes } = await by.render(plain, SVG, { format: "png" });
  expect(bytes.length).toBeGreaterThan(50);
}

describe("an SVG that needs too much is stopped in time, and the next picture is rendered:", () => {
  test.each(Object.entries(hostileSvgs()))("%s", async (_, text) => {
    await renderPlain();
    const source = { bytes: Buffer.from(text) };
    await expect(renderer.render(source, SVG, { format: "png" })).rejects.toMatchObject({
      code: expect.stringMatching(ENDED),
    });
    await renderPlain();
    // A look at it may well succeed: drawn small it is cheap. It must only come to an end.
    const info = await admitInfo(renderer, source, SVG).catch((error: unknown) => error);
    expect(info).toSatisfy((value) => "pages" in value || ENDED.test(value.code));
  });
});

describe("a GIF of a few bytes that declares a huge size is refused:", () => {
  const frames = (count: number, width: number, height: number): GifFrame[] =>
    Array.from({ length: count }, () => ({ width, height }));

  test.each([
    ["one frame of 16,000 by 16,000", sparseGif(16_000, 16_000, frames(1, 16_000, 16_000))],
    ["a small screen and one frame of 65,535 by 65,535", sparseGif(10, 10, frames(1, 65_535, 65_535))],
    ["a million frames", manyFrames(1_000_000)],
    [
      "a later frame beyond the screen",
      sparseGif(10, 10, [...frames(1, 10, 10), ...frames(1, 65_535, 65_535)]),
    ],
  ])("%s", async (_, bytes) => {
    const before = new Set(workersOf(process.pid));
    const fresh = createRenderer({ workers: 1, timeoutMs: 60_000 });
    try {
      for (const format of ["gif", "webp", "png"] as const) {
        await expect(fresh.render({ bytes }, "image/gif", { format })).rejects.toMatchObject({
          code: "unsupported_media",
        });
      }
      await expect(admitInfo(fresh, { bytes }, "image/gif")).rejects.toMatchObject({
        code: "unsupported_media",
      });
      for (const pid of workersOf(process.pid).filter((each) => !before.has(each))) {
        expect(peakBytes(pid)).toBeLessThan(200 * 1024 ** 2);
      }
    } finally {
      await fresh.close();
    }
  });

  function manyFrames(count: number): Buffer {
    const one = sparseGif(1, 1, frames(1, 1, 1));
    return Buffer.concat([
      one.subarray(0, 19),
      Buffer.alloc(22 * count, one.subarray(19, 41)),
      Buffer.of(0x3b),
    ]);
  }
});

test.runIf(process.platform === "linux")(
  "a valid picture that needs too much memory is refused",
  async () => {
    const bytes = await sharp({ create: { width: 7000, height: 7000, channels: 4, background: "#369c" } })
      .png({ progressive: true, compressionLevel: 1 })
      .toBuffer();
    const frugal = createRenderer({ maxMemoryBytes: 128 * 1024 ** 2, workers: 1, timeoutMs: 60_000 });
    const usual = createRenderer({ workers: 1, timeoutMs: 60_000 });
    try {
      await renderPlain(frugal);
      await expect(frugal.render({ bytes }, "image/png", { format: "jpg" })).rejects.toMatchObject({
        code: "too_costly",
        message: "This image needs more than 128 MiB of memory to render.",
      });
      await renderPlain(frugal);
      expect((await admitInfo(usual, { bytes }, "image/png")).width).toBe(7000);
    } finally {
      await Promise.all([frugal.close(), usual.close()]);
    }
  },
);

test("the host process stays responsive while every worker is busy", async () => {
  const [busy] = Object.values(hostileSvgs());
  await renderPlain();
  let turns = 0;
  const timer = setInterval(() => turns++, 10);
  const outcomes = await Promise.allSettled([
    renderer.render({ bytes: Buffer.from(busy ?? "") }, SVG, { format: "png" }),
    renderer.render({ bytes: Buffer.from(busy ?? "") }, SVG, { format: "png" }),
    ...Array.from({ length: 20 }, () => renderPlain()),
  ]);
  clearInterval(timer);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(20);
  // A blocked host would have at most one for each of its 22 replies.
  expect(turns).toBeGreaterThan(30);
});
