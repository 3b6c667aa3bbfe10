import type { Observer } from "../contracts/observer.ts";

/** The same observer; its own failures go to `onError`, and the observed work returns its result. */
export function safeObserver(observer: Observer, onError: (error: unknown) => void): Observer {
  return {
    async observe(operation, work, outcomeOf) {
      let begun: ReturnType<typeof work> | undefined;
      const begin = () => {
        begun ??= work();
        return begun;
      };
      try {
        return await observer.observe(operation, begin, outcomeOf);
      } catch (error) {
        const result = await begin();
        // The work succeeded, so the observer failed.
        onError(error);
        return result;
      }
    },
    served(from) {
      try {
        observer.served(from);
      } catch (error) {
        onError(error);
      }
    },
    ...(observer.answered === undefined
      ? {}
      : {
          answered(request) {
            try {
              observer.answered?.(request);
            } catch (error) {
              onError(error);
            }
          },
        }),
    gauge(name, read) {
      try {
        return observer.gauge(name, read);
      } catch (error) {
        onError(error);
        return () => undefined;
      }
    },
  };
}
