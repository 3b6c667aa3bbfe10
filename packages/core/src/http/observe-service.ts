import type { Service } from "../contracts/call.ts";
import type { Observer } from "../contracts/observer.ts";

/** The methods that some route permits. */
const METHODS = new Set(["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"]);

/**
 * The same service, its requests observed; those that are not its own by their address pass by. One that only looks like
 * its own, because the host has a page whose name has the form of an ID, ends `next`. A request lasts until there is a
 * reply: a body that is a stream is sent afterwards.
 * @param routeOf names the route of a path, its variable parts named; `undefined` where it is not the service's.
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
  };
}
