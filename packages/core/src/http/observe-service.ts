import type { Service } from "../contracts/call.ts";
import type { Observer } from "../contracts/observer.ts";

/** The methods that at least one route allows. */
const METHODS = new Set(["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"]);

/**
 * Wraps a service so that its requests are observed; requests outside its paths are not. A request that the
 * host answers after all, because a host page has a name in the form of an ID, ends as `next`. A request
 * lasts until its reply exists; a stream body is sent afterwards.
 * @param routeOf returns the route of a path with its variable parts as names; `undefined` outside the
 * service.
 */
export function observeService(
  service: Service,
  observer: Observer,
  routeOf: (path: string) => string | undefined,
): Service {
  return {
    handle(call) {
      const route = routeOf(call.path);
      if (route === undefined) return service.handle(call);
      const method = METHODS.has(call.method) ? call.method : "other";
      return observer.observe(
        { kind: "request", method, route, headers: call.headers },
        () => service.handle(call),
        (reply) => (reply === undefined ? "next" : String(reply.status)),
      );
    },
    answerNow(call, inFront) {
      if (observer.answered === undefined) return undefined;
      const startedAt = performance.now();
      const reply = service.answerNow?.(call, inFront);
      const route = reply && routeOf(call.path);
      if (reply === undefined || route === undefined) return reply;
      const { method, headers } = call;
      observer.answered({
        operation: { kind: "request", method, route, headers },
        status: String(reply.status),
        // A reply at hand has its bytes in memory.
        from: reply.status === 200 ? "memory" : null,
        startedAt,
      });
      return reply;
    },
  };
}
