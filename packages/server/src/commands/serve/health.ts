import type { Service } from "@outrigger/core";
import type { LeaseChoice } from "@outrigger/core/images";
import type { Logger } from "pino";
import type { Readiness } from "./readiness.ts";
import { jsonReply, methodRefusal } from "./replies.ts";

export interface HealthOptions {
  readiness: Readiness;
  /** Where the leases of renditions are kept; see `chooseLeases`. */
  leases(): Promise<Pick<LeaseChoice, "place">>;
  isDraining(): boolean;
  logger: Logger;
}

/**
 * `/healthz`: the process is alive, and nothing else is asked. `/readyz`: requests can be served; 503 names the part that
 * cannot, or says that the server is about to end. What is wrong with it stands in the log. `leases` says where renditions
 * in a shared storage have their leases; the status does not depend on it.
 */
export function createHealth({ readiness, leases, isDraining, logger }: HealthOptions): Service {
  let wasReady = true;

  async function readyz() {
    if (isDraining()) return { status: 503, body: { status: "draining" } };
    const troubles = await readiness.troubles();
    const isReady = Object.keys(troubles).length === 0;
    if (isReady !== wasReady) {
      wasReady = isReady;
      if (isReady) logger.info("ready again");
      for (const [part, err] of Object.entries(troubles)) logger.error({ part, err }, "not ready");
    }
    const place = isReady ? (await leases()).place : "unshared";
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
