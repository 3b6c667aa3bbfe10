import { acceptAll, createFakeRenderer, PLAIN } from "@outrigger/testing";
import { expect, test } from "vitest";
import { created, createSite, eventually, type SiteOptions } from "../../../test/image-site.ts";

const ATTACKER = "198.51.100.66";
const VICTIM = "203.0.113.7";
/** Dear in every format by its number of pixels. */
const LARGE = { ...PLAIN, width: 9_000, height: 6_000 };

/** One process with two workers. Renders of held sizes end only when the test releases them. */
function createSharedSite(options: SiteOptions = {}) {
  const begun: string[] = [];
  const held = new Map<string, (cpuMs?: number) => void>();
  let isHeld = (_size: string) => false;
  const renderer = createFakeRenderer(acceptAll);
  const shared = {
    ...renderer,
    workers: 2,
    maxQueue: 64,
    canRender: () => true,
    measure: (_original: unknown, { maxWidth = 0 }: { maxWidth?: number }) => ({
      width: maxWidth,
      height: maxWidth,
    }),
    render: async (_source: unknown, _type: unknown, spec: { width?: number }, work = {}) => {
      const { onCost = () => undefined } = work as { onCost?: (cpuMs: number) => void };
      const size = String(spec.width);
      begun.push(size);
      const cpuMs = isHeld(size)
        ? await new Promise<number>((resolve) => held.set(size, (ms = 5_000) => resolve(ms)))
        : 10;
      onCost(cpuMs);
      return { bytes: Buffer.from(`${size} pixels`) };
    },
  };
  // Unlike `rateLimits: false`, this keeps the limits of queued work per client.
  const rateLimits = { creates: false, reads: false, edits: false, pinFailures: false } as const;
  const site = createSite({ rateLimits, ...options, renderer: shared });
  const read = (clientIp: string, id: string, size: number) =>
    site.send("GET", `/api/images/${id}.jpg`, { search: `?resize=${size}x`, clientIp });
  const upload = async (clientIp: string, admission = PLAIN) => {
    renderer.answer = ({ accept }) => accept(admission);
    return site.create({ clientIp });
  };
  return {
    ...{ site, begun, read, upload },
    hold(sizes: (size: string) => boolean) {
      isHeld = sizes;
    },
    /** Waits until a render has begun, then ends it. */
    async release(size: number, cpuMs?: number) {
      await eventually(() => expect(held.has(String(size))).toBe(true));
      held.get(String(size))?.(cpuMs);
    },
  };
}

test("64 dear sizes queued by one client reject no render and no upload of another", async () => {
  const { read, upload, hold, release, begun } = createSharedSite();
  const hostile = created(await upload(ATTACKER, LARGE)).id;
  hold((size) => Number(size) >= 1_000);
  const attack = Array.from({ length: 64 }, (_, n) => read(ATTACKER, hostile, 1_000 + n));
  await eventually(() => expect(begun).toEqual(["1000"]));
  const statuses: number[] = [];
  for (let n = 0; n < 8; n++) {
    const answer = await upload(VICTIM);
    statuses.push(answer.status, (await read(VICTIM, created(answer).id, 100 + n)).status);
  }
  expect(new Set(statuses)).toEqual(new Set([201, 200]));
  // One runs, since dear work leaves one worker free, and eight are queued.
  hold((size) => size === "1000");
  await release(1_000);
  const answers = await Promise.all(attack);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(9);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
  expect(refused[0]?.headers["Retry-After"]).toMatch(/^[1-9]\d?$/);
});

test("a client over its budget gets 429 for new sizes while others wait, and 200 for stored sizes", async () => {
  const { read, upload, hold, release } = createSharedSite({ renderBudget: 5 });
  const { id } = created(await upload(ATTACKER, LARGE));
  hold((size) => Number(size) >= 1_000);
  const used = read(ATTACKER, id, 1_000);
  await release(1_000, 6_000);
  expect((await used).status).toBe(200);
  const alone = read(ATTACKER, id, 1_001);
  await release(1_001, 6_000);
  expect((await alone).status).toBe(200);

  const others = [read(VICTIM, id, 2_000), read(VICTIM, id, 2_001)];
  await inLine();
  const refused = await read(ATTACKER, id, 1_002);
  expect(refused.status).toBe(429);
  expect(refused.json.detail).toBe(
    "You have used up your time for new renditions. Stored sizes are still served.",
  );
  expect((await read(ATTACKER, id, 1_000)).status).toBe(200);
  await release(2_000);
  await release(2_001);
  await Promise.all(others);
});

/** Waits until the requests are queued: the memory store takes a few turns of the event loop. */
async function inLine(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}
