import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultsOf } from "./openapi/check-answer.ts";
import { type Draft, draftsOf } from "./openapi/drafts.ts";
import { faultStages } from "./openapi/fault-stages.ts";
import { answerName, documentedAnswers, operationsOf } from "./openapi/operations.ts";
import { play } from "./openapi/scenes.ts";
import { createDraftSender, type DraftSender } from "./openapi/send-drafts.ts";
import { type ApiSite, startApi } from "./openapi/sites.ts";
import { ordinaryStages } from "./openapi/stages.ts";
import { amount } from "./support/soak.ts";

const SEED = Number(process.env.OUTRIGGER_SEED ?? 20_260_301);
const AT_ONCE = 20;
/** Enough to see what is wrong. */
const MANY_FAULTS = 40;

describe("what is described happens", () => {
  const promised = new Set<string>();
  const seen = new Set<string>();

  test.each([...ordinaryStages(), ...faultStages()])("on a site $name", async ({ start, scenes }) => {
    const site = await start();
    const faults: string[] = [];
    try {
      for (const each of documentedAnswers(site.document)) promised.add(each);
      for (const scene of scenes) {
        for (const described of operationsOf(site.document)) {
          const isPromised = described.operation.responses[scene.status] !== undefined;
          if (!isPromised || scene.when?.(described) === false) continue;
          const answer = await play(site, described, scene);
          faults.push(...faultsOf(site.document, site.schemas, described, answer));
          if (answer.status === scene.status) seen.add(answerName(described, answer.status));
        }
      }
    } finally {
      await site.stop();
    }
    expect(faults).toEqual([]);
  });

  test("all of it, on one of these", () => {
    expect([...promised].filter((each) => !seen.has(each))).toEqual([]);
    expect(promised.size).toBeGreaterThan(400);
  });
});

describe("calls that the description makes up", () => {
  let site: ApiSite;
  let sender: DraftSender;
  let all: Draft[];

  beforeAll(async () => {
    site = await startApi();
    const numRuns = amount(12_000, 200_000);
    all = fc.sample(draftsOf(operationsOf(site.document)), { seed: SEED, numRuns });
    // Last: the sample takes seconds, in which the server would let idle connections end.
    sender = await createDraftSender(site);
  });
  afterAll(() => site.stop());

  test.each([1, 2, 3])("are answered as it says: part %i of 3", async (part) => {
    const drafts = all.slice(((part - 1) / 3) * all.length, (part / 3) * all.length);
    const faults: string[] = [];
    while (drafts.length > 0 && faults.length < MANY_FAULTS) {
      const some = await Promise.all(drafts.splice(0, AT_ONCE).map((draft) => sender.send(draft)));
      faults.push(...some.flat());
    }
    expect(faults, `with OUTRIGGER_SEED=${SEED}`).toEqual([]);
  });

  test("are of many kinds", () => {
    for (const status of [200, 201, 204, 303, 304, 400, 401, 403, 404, 410, 412, 415, 451]) {
      // A date later than the server's clock is ignored, so few get 304.
      expect(sender.counts.get(status), `answers of ${status}`).toBeGreaterThan(status === 304 ? 3 : 10);
    }
  });
});
