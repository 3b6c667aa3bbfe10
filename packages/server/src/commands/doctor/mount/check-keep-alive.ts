import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { type Finding, ok, warning } from "../finding.ts";
import { headerOf } from "./answer.ts";
import { HELLO_PATH } from "./check-reach.ts";
import { explainTrouble } from "./connection-trouble.ts";
import type { MountVisit } from "./visit.ts";

const CHECK = "idle connection";
const MAX_IDLE_MS = 2_000;

/** Whether a connection can be used again after a while. */
export async function checkKeepAlive(visit: MountVisit): Promise<Finding[]> {
  const options = { keepAlive: true, maxSockets: 1 };
  const agent = visit.base.startsWith("https:") ? new HttpsAgent(options) : new HttpAgent(options);
  const idleMs = Math.min(visit.patienceMs, MAX_IDLE_MS);
  const idle = `after ${idleMs / 1000} s`;
  try {
    const first = await visit.send(HELLO_PATH, { agent });
    await sleep(idleMs);
    const second = await visit.send(HELLO_PATH, { agent });
    if (second.isReused) return [ok(CHECK, `is used again ${idle}`)];
    return headerOf(first, "connection")?.toLowerCase() === "close"
      ? [ok(CHECK, "none: every reply closes its connection")]
      : [ok(CHECK, `is closed ${idle}, and a new one made`)];
  } catch (error) {
    const remedy =
      "Have the server keep idle connections longer than who is in front of it (server.keepAliveTimeout)";
    return [warning(CHECK, `a second request ${idle} fails: ${explainTrouble(error).detail}`, remedy)];
  } finally {
    agent.destroy();
  }
}
