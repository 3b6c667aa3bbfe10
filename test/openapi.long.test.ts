import { describe, expect, test } from "vitest";
import { createCall } from "../packages/core/test/calls.ts";
import { faultsOf } from "./openapi/check-answer.ts";
import { answerName, type Described, documentedAnswers, operationsOf } from "./openapi/operations.ts";
import { plainCall } from "./openapi/plain-call.ts";
import { type Scene, stages } from "./openapi/scenes.ts";
import { type Answer, type ApiSite, startApi } from "./openapi/sites.ts";
import { describedReplies, takeFaults } from "./support/described-replies.ts";

describe("what is described happens", () => {
  const promised = new Set<string>();
  const seen = new Set<string>();

  test.each(stages())("on a site $name", async ({ start, scenes }) => {
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
    expect(promised.size).toBeGreaterThan(300);
  });
});

async function play(site: ApiSite, described: Described, scene: Scene): Promise<Answer> {
  const { subject = (site) => site.create(), alter = (sent) => sent, times = 1 } = scene;
  const plain = plainCall(described, await subject(site, described), site);
  scene.toggle?.(true);
  try {
    for (let time = 1; time < times; time++) await site.send(alter(plain));
    return await site.send(alter(plain));
  } finally {
    scene.toggle?.(false);
  }
}

test("the check of the replies of other tests names a status, a header and a field that are not described", async () => {
  const { images, stop } = await startApi();
  const call = createCall("GET", `/api/images/${"A".repeat(22)}.json`);
  const reply = (await images.handle(call)) ?? { status: 0, headers: {} };
  const body = String(reply.body).replace("{", '{"other":1,');
  const headers = { ...reply.headers, "X-Service-Other": "1" };
  for (const [answer, faults] of [
    [reply, []],
    [{ ...reply, status: 299 }, [/ 299 is not described/]],
    [{ ...reply, headers }, [/x-service-other is not described/]],
    [{ ...reply, body }, [/additional properties/]],
  ] as const) {
    await describedReplies({ describe: () => images.describe(), handle: async () => answer }).handle(call);
    expect(takeFaults()).toEqual(faults.map((fault) => expect.stringMatching(fault)));
  }
  await stop();
});
