import { expect, test } from "vitest";
import { pngPhoto } from "../support/pictures.ts";
import { NO_RATE_LIMITS, startSite } from "../support/service.ts";
import { amount } from "../support/soak.ts";
import { type Answer, clientAt, uploadAs } from "./renders/clients.ts";
import { DEAR_TYPE, heldRenderer } from "./renders/held-renderer.ts";

const SIZES = 64;
/** Limit of one client's queue, including running renders. */
const OWN_LINE = 10;
const READS = amount(6, 60);
/** Further renders of the greedy client that may begin before another client's request is answered. */
const MOST_FURTHER = 2;
const SVG = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="900"><rect width="900" height="900"/></svg>',
);

interface Outcome {
  /** Results of the modest client. */
  statuses: number[];
  /** Greedy renders that began while each of its requests waited. */
  further: number[];
}

/**
 * One client requests many expensive sizes at once. Another alternates between reads of a new small size and uploads.
 */
async function besideGreedyClient(isShared: boolean): Promise<Outcome> {
  const held = heldRenderer(isShared);
  const site = await startSite({ renderer: held.renderer, rateLimits: NO_RATE_LIMITS });
  const greedy = clientAt(site, 66);
  const other = clientAt(site, 2);
  const pending: Promise<unknown>[] = [];
  let greedyAnswers = 0;
  try {
    const dear = await uploadAs(greedy, SVG, DEAR_TYPE);
    const small = await uploadAs(other, await pngPhoto(300, 200), "image/png");
    // The first render shows the picture's cost.
    const first = greedy.get(`api/images/${dear}.png?resize=600x`);
    await expect.poll(() => held.running()).toBe(1);
    held.endOldest();
    expect((await first).status).toBe(200);
    for (let size = 0; size < SIZES; size++) {
      pending.push(greedy.get(`api/images/${dear}.png?resize=${700 + size}x`).then(() => greedyAnswers++));
    }
    // All requests beyond the queue have a reply or are with the renderer.
    await expect.poll(() => greedyAnswers + held.asked()).toBeGreaterThan(SIZES - OWN_LINE);

    const outcome: Outcome = { statuses: [], further: [] };
    const measure = async (ask: () => Promise<Answer>) => {
      const before = held.begun();
      let answer: Answer | undefined;
      const asked = ask().then((got) => {
        answer = got;
      });
      // If expensive work held both workers, nothing else would ever begin.
      const relief = setInterval(() => held.running() > 1 && held.endOldest(), 20);
      await asked.finally(() => clearInterval(relief));
      outcome.statuses.push(answer?.status ?? 0);
      outcome.further.push(held.begun() - before);
    };
    for (let read = 0; read < READS; read++) {
      await measure(() => other.get(`api/images/${small}.png?resize=${20 + read}x`));
      if (read % 3 === 0) await measure(async () => other.upload(await pngPhoto(30 + read, 20), "image/png"));
    }
    return outcome;
  } finally {
    const relief = setInterval(() => held.endOldest(), 5);
    await Promise.allSettled(pending);
    clearInterval(relief);
    await site.close();
  }
}

test("a client is answered at once while another requests 64 expensive sizes", async () => {
  const { statuses, further } = await besideGreedyClient(true);
  expect(new Set(statuses)).toEqual(new Set([200, 201]));
  expect(Math.max(...further)).toBeLessThanOrEqual(MOST_FURTHER);
});

test("the check finds a renderer that serves all clients first come, first served", async () => {
  const { further } = await besideGreedyClient(false);
  expect(Math.max(...further)).toBeGreaterThan(MOST_FURTHER);
});
