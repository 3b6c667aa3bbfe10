import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, headerOf } from "./answer.ts";
import type { MountVisit } from "./visit.ts";

const PATIENCE_MS = 60_000;

/** The record of an image once it is processed, or what is answered instead; 202 where that takes too long. */
export async function untilReady(visit: MountVisit, id: string): Promise<Answer> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await visit.send(`/api/images/${id}.json`);
    if (answer.status !== 202 || Date.now() > deadline) return answer;
    await sleep(Math.min(5, Number(headerOf(answer, "retry-after") ?? 1) || 1) * 1000);
  }
}
