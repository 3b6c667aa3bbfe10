import type { Call, Reply, Service } from "@outrigger/core";

/** `service`, serving requests one after the other: one slow client stops it. */
export function oneAtATime(service: Service): Service {
  let last: Promise<unknown> = Promise.resolve();
  return {
    handle(call: Call): Promise<Reply | undefined> {
      const turn = last.then(() => service.handle(call));
      // The failure goes to the client of that request.
      last = turn.catch(() => {});
      return turn;
    },
  };
}

/** `service`, with so much work before every reply that it has no time for other requests. */
export function hardWorking(service: Service, workMs: number): Service {
  return {
    handle(call) {
      const end = performance.now() + workMs;
      while (performance.now() < end);
      return service.handle(call);
    },
  };
}
