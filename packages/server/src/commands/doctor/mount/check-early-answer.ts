import { setTimeout as sleep } from "node:timers/promises";
import { type Finding, ok } from "../finding.ts";
import { problemDetail } from "./answer.ts";
import { HELLO_PATH } from "./check-reach.ts";
import type { MountVisit } from "./visit.ts";

const CHECK = "request buffering";
/** Longer than a reply takes beyond what it took before, shorter than a refused client is waited for. */
const PAUSE_MS = 500;

/**
 * Whether what is sent reaches the service as it is sent, or when something in front has all of it: neither is wrong, but
 * with the second its limits and time-outs count. The request is one that the service refuses by its headers.
 */
export async function checkEarlyAnswer(visit: MountVisit): Promise<Finding[]> {
  const usual = await visit.send(HELLO_PATH);
  const pauseMs = usual.arrivedMs - usual.sentMs + PAUSE_MS;
  const body = Buffer.alloc(1024, " ");
  let completedMs = Number.POSITIVE_INFINITY;
  const answer = await visit.send("/api/images.json", {
    method: "POST",
    headers: { "Content-Type": "text/plain", "Content-Length": String(body.length) },
    finishesFirst: true,
    body: (async function* () {
      yield body.subarray(1);
      await sleep(pauseMs);
      completedMs = Date.now();
      yield body.subarray(0, 1);
    })(),
  });
  if (problemDetail(answer) === null) return [];
  return answer.arrivedMs >= completedMs
    ? [
        ok(
          CHECK,
          "something in front takes a request whole before it passes it on: its time-outs count for uploads",
        ),
      ]
    : [ok(CHECK, "none, requests are passed on as they come")];
}
