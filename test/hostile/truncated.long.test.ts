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
const DAMAGES = ["cut", "corrupted"] as const;
const FORMATS: readonly ImageFormat[] = ["png", "jpg", "webp"];
let site: Site;
let watch: Watch;
let renderer: Renderer;
const stored: string[] = [];
/** Damaged files refused, per file. */
const refused = new Map<string, number>();

/**
 * Uploads; an accepted file must be readable in every format or refused with a reason. @returns whether it was
 * accepted.
 */
async function expectTakenOrRefused({ title, type, bytes }: NamedFile): Promise<boolean> {
  const created = await answerOf(await postImage(site, bytes, type));
  if (created?.status !== 201) {
    expectProblem(created, [415, 503], title);
    return false;
  }
  const { id } = JSON.parse(created.body) as Created;
  stored.push(id);
  for (const format of FORMATS) {
    const said = `${title} as ${format}`;
    const answer = await answerOf(await fetch(addressOf(site, id, format)));
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
  const files = await soundFiles();
  test.each(files.flatMap((file) => DAMAGES.map((how) => [how, file.title, file] as const)))(
    "a %s %s is refused, or accepted and readable",
    async (how, title, { type, bytes }) => {
      const random = createRandom(SEED);
      const damaged = how === "cut" ? truncations(bytes, random) : corruptions(bytes, random, CORRUPTIONS);
      const taken = await inParallel(damaged, AT_ONCE, (each) =>
        expectTakenOrRefused({ title: `${title} ${each.title}`, type, bytes: each.bytes }),
      );
      refused.set(title, (refused.get(title) ?? 0) + taken.filter((isTaken) => !isTaken).length);
    },
  );
});

test("a sound file is accepted, and some damage of each is detected", async () => {
  for (const file of await soundFiles()) {
    expect(await expectTakenOrRefused(file)).toBe(true);
    expect(refused.get(file.title), file.title).toBeGreaterThan(5);
  }
});

test("damaged files leave no file, no descriptor and no unexpected error behind", async () => {
  await watch.expectUnharmed(stored);
  expect(site.errors).toEqual([]);
});
