import type { Service } from "@outrigger/core";
import type { LeaseChoice } from "@outrigger/core/images";
import type { Logger } from "pino";
import type { Readiness } from "./readiness.ts";
import { jsonReply, methodRefusal } from "./replies.ts";

export interface HealthOptions {
  readiness: Readiness;
  /** The store that holds the leases of renditions; see `chooseLeases`. */
  leases(): Promise<Pick<LeaseChoice, "place">>;
  isDraining(): boolean;
  logger: Logger;
}

/**
 * `/healthz` returns 200 while the process runs; it checks nothing else. `/readyz` returns 200 if requests can be served, and
 * 503 with the failing part or `draining`. The log has the reason. The status depends neither on a store of renditions alone nor on
 * `leases`, which names the store with the leases of shared renditions.
 */
export function createHealth({ readiness, leases, isDraining, logger }: HealthOptions): Service {
  let wasReady = true;

  async function readyz() {
    if (isDraining()) return { status: 503, body: { status: "draining" } };
    const troubles = await readiness.troubles();
    const failing = Object.keys(troubles);
    const isReady = failing.every((part) => part === "renditions");
    if (isReady !== wasReady) {
      wasReady = isReady;
      if (isReady) logger.info("ready again");
      for (const [part, err] of Object.entries(troubles)) logger.error({ part, err }, "not ready");
    }
    const place = failing.length === 0 ? (await leases()).place : "unshared";
    const state = (part: string) => (part in troubles ? "failing" : "ok");
    return {
      status: isReady ? 200 : 503,
      body: {
        status: isReady ? "ready" : "not ready",
        ...(place === "unshared" ? {} : { leases: place }),
        checks: Object.fromEntries(readiness.parts.map((part) => [part, state(part)])),
      },
    };
  }

  return {
    async handle(call) {
      if (call.path !== "/healthz" && call.path !== "/readyz") return undefined;
      const refusal = methodRefusal(call);
      if (refusal !== null) return refusal;
      if (call.path === "/healthz") return jsonReply(call, 200, { status: "ok" });
      const { status, body } = await readyz();
      return jsonReply(call, status, body, status === 503 ? { "Retry-After": "1" } : {});
    },
  };
}
