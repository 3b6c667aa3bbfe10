import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { ImageFormat, OriginalType, Renderer } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addressOf, type Created, postImage, type Site, startSite } from "../support/service.ts";
import { corruptions, installedFiles, type NamedFile, soundFiles, truncations } from "./damaged-files.ts";
import { inParallel } from "./in-parallel.ts";
import { createRandom } from "./random.ts";
import { answerOf, expectProblem } from "./verdict.ts";
import { type Watch, watchSite } from "./watch-site.ts";

const SEED = 4711;
const CORRUPTIONS = 30;
const RENDER_MS = 3000;
const AT_ONCE = 4;
/** A request that hangs takes longer, on the busiest machine. */
const WITHIN_MS = 60_000;
const FORMATS: readonly ImageFormat[] = ["png", "jpg", "webp"];
const PACKAGES = fileURLToPath(new URL("../../node_modules", import.meta.url));

let site: Site;
let watch: Watch;
let renderer: Renderer;
const stored: string[] = [];

/** Uploads; what is taken must be readable in every format or refused with a reason. Whether it was taken. */
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
      const isOffered = type === `image/${format}` || renderer.canRender(type, format);
      // A machine that has no time for it is no fault of the picture: 503.
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

describe(`damaged at places from seed ${SEED}`, async () => {
  test.each((await soundFiles()).map((file) => [file.title, file] as const))(
    "a %s is taken or refused, and readable when taken",
    async (title, { type, bytes }) => {
      expect(await expectTakenOrRefused({ title, type, bytes })).toBe(true);
      const random = createRandom(SEED);
      const damaged = [...truncations(bytes, random), ...corruptions(bytes, random, CORRUPTIONS)];
      const taken = await inParallel(damaged, AT_ONCE, (each) =>
        expectTakenOrRefused({ title: `${title} ${each.title}`, type, bytes: each.bytes }),
      );
      // Not all damage is detectable, but at least one damaged file must be refused.
      expect(taken.filter((isTaken) => !isTaken).length).toBeGreaterThan(5);
    },
  );
});

test("a picture cut in the middle is refused, not served half grey", async () => {
  for (const { title, type, bytes } of await soundFiles()) {
    if (type === "application/pdf") continue;
    const half = bytes.subarray(0, Math.ceil(bytes.length / 2));
    expect([title, (await postImage(site, half, type)).status]).toEqual([title, 415]);
  }
});

describe("among the files that the installed packages ship", () => {
  const { files, others } = installedFiles(PACKAGES);

  test("every picture is taken or refused", async () => {
    expect(files.length, `pictures below ${dirname(PACKAGES)}`).toBeGreaterThan(3);
    const taken = await inParallel(files, AT_ONCE, expectTakenOrRefused);
    expect(taken.filter(Boolean).length).toBeGreaterThan(0);
  });

  test("every picture is taken or refused when cut short or changed", async () => {
    const random = createRandom(SEED);
    const damaged = files
      .filter(({ bytes }) => bytes.length > 40)
      .flatMap(({ title, type, bytes }) => [
        { title: `${title}, its first half`, type, bytes: bytes.subarray(0, bytes.length / 2) },
        ...corruptions(bytes, random, 3).map((each) => ({ ...each, type, title: `${title} ${each.title}` })),
      ]);
    await inParallel(damaged, AT_ONCE, expectTakenOrRefused);
  });

  test("a file of no supported type is refused, whatever type the request claims", async () => {
    expect(others.length).toBeGreaterThan(0);
    const types: OriginalType[] = [
      "image/png",
      "image/jpeg",
      "image/gif",
      "image/svg+xml",
      "image/x-photoshop",
    ];
    const attempts = others.flatMap(({ title, bytes }) => types.map((type) => ({ title, type, bytes })));
    const taken = await inParallel(attempts, AT_ONCE, expectTakenOrRefused);
    expect(taken.filter(Boolean)).toEqual([]);
  });
});

test("none of this has left a file, a descriptor or an unexpected error behind", async () => {
  await watch.expectUnharmed(stored);
  expect(site.errors).toEqual([]);
});
