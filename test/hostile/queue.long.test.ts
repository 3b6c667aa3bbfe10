import { createRenderer } from "@outrigger/imaging";
import { expect, test } from "vitest";
import { NO_RATE_LIMITS, postImage, startSite } from "../support/service.ts";
import { bombs } from "./bombs.ts";
import { inParallel } from "./in-parallel.ts";
import { answerOf, expectProblem } from "./verdict.ts";
import { watchSite } from "./watch-site.ts";

test("bombs beyond one client's queue get 429 with Retry-After, and leave no files", async () => {
  const site = await startSite({
    renderer: createRenderer({ timeoutMs: 1000, workers: 1, maxQueue: 1 }),
    rateLimits: NO_RATE_LIMITS,
  });
  try {
    const watch = await watchSite(site);
    const drawn = (await bombs()).filter(({ title }) => title.includes("10^12 uses"));
    expect(drawn).toHaveLength(1);
    const attempts = Array.from({ length: 8 }, () => drawn).flat();
    const statuses = await inParallel(attempts, 8, async ({ title, type, bytes }) => {
      const answer = await answerOf(await postImage(site, bytes, type));
      expectProblem(answer, [415, 429, 503], title);
      return answer?.status;
    });
    // The others are refused by their cost, or with 503 if this machine was too busy to determine it.
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(3);
    await watch.expectUnharmed();
    expect(site.errors).toEqual([]);
  } finally {
    await site.close();
  }
});
