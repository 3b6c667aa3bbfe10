import type { Call, Reply, Service } from "@outrigger/core";

/** `service`, which takes the next request when it is done with the last: one slow client is enough to stop it. */
export function oneAtATime(service: Service): Service {
  let last: Promise<unknown> = Promise.resolve();
  return {
    handle(call: Call): Promise<Reply | undefined> {
      const turn = last.then(() => service.handle(call));
      // The caller gets the failure.
      last = turn.catch(() => {});
      return turn;
    },
  };
}

/** `service`, which does so much before every answer that it has no time for others. */
export function hardWorking(service: Service, workMs: number): Service {
  return {
    handle(call) {
      const end = performance.now() + workMs;
      while (performance.now() < end);
      return service.handle(call);
    },
  };
}
