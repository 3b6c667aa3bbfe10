import type { ImageFormat, Renderer } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addressOf, type Created, postImage, type Site, startSite } from "../support/service.ts";
import { corruptions, type NamedFile, soundFiles, truncations } from "./damaged-files.ts";
import { inParallel } from "./in-parallel.ts";
import { createRandom } from "./random.ts";
import { answerOf, expectProblem } from "./verdict.ts";
import { type Watch, watchSite } from "./watch-site.ts";

const SEED = 4711;
const CORRUPTIONS = 30;
const RENDER_MS = 3000;
const AT_ONCE = 4;
/** Longer than any request that does not hang, on the busiest machine. */
const WITHIN_MS = 60_000;
const FORMATS: readonly ImageFormat[] = ["png", "jpg", "webp"];
let site: Site;
let watch: Watch;
let renderer: Renderer;
const stored: string[] = [];

/**
 * Uploads; an accepted file must be readable in every format or refused with a reason. @returns whether it was
 * accepted.
 */
async function expectTakenOrRefused({ title, type, bytes }: NamedFile): Promise<boolean> {
  const begin = performance.now();
  const created = await answerOf(await postImage(site, bytes, type));
  expect(performance.now() - begin, title).toBeLessThan(WITHIN_MS);
  if (created?.status !== 201) {
    expectProblem(created, [415, 503], title);
    return false;
  }
  const { id } = JSON.parse(created.body) as Created;
  stored.push(id);
  for (const format of FORMATS) {
    const said = `${title} as ${format}`;
    const asked = performance.now();
    const answer = await answerOf(await fetch(addressOf(site, id, format)));
    expect(performance.now() - asked, said).toBeLessThan(WITHIN_MS);
    if (answer?.status !== 200) {
      const isOffered = type === `image/${format}` || (renderer.canRender?.(type, format) ?? true);
      // 503 means that the machine had no time for it, which is no fault of the picture.
      expectProblem(answer, isOffered ? [415, 503] : [501], said);
    }
  }
  return true;
}

beforeAll(async () => {
  renderer = createRenderer({ timeoutMs: RENDER_MS });
  site = await startSite({ renderer });
  watch = await watchSite(site);
});
afterAll(() => site.close());

describe(`files damaged at random from seed ${SEED}`, async () => {
  test.each((await soundFiles()).map((file) => [file.title, file] as const))(
    "a damaged %s is refused, or accepted and readable",
    async (title, { type, bytes }) => {
      expect(await expectTakenOrRefused({ title, type, bytes })).toBe(true);
      const random = createRandom(SEED);
      const damaged = [...truncations(bytes, random), ...corruptions(bytes, random, CORRUPTIONS)];
      const taken = await inParallel(damaged, AT_ONCE, (each) =>
        expectTakenOrRefused({ title: `${title} ${each.title}`, type, bytes: each.bytes }),
      );
      // Not all damage is detectable, but some must be.
      expect(taken.filter((isTaken) => !isTaken).length).toBeGreaterThan(5);
    },
  );
});

test("a picture cut in half is refused, not served half grey", async () => {
  for (const { title, type, bytes } of await soundFiles()) {
    if (type === "application/pdf") continue;
    const half = bytes.subarray(0, Math.ceil(bytes.length / 2));
    expect([title, (await postImage(site, half, type)).status]).toEqual([title, 415]);
  }
});
test("damaged files leave no file, no descriptor and no unexpected error behind", async () => {
  await watch.expectUnharmed(stored);
  expect(site.errors).toEqual([]);
});
