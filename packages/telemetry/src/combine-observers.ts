import type { AnsweredRequest, Observer } from "@outrigger/core";
import { checkValue, shapes } from "@outrigger/core/stores";

/**
 * Combines several observers, e.g. metrics and traces, to one. An operation runs inside all of them; the
 * first is the outermost.
 * @example createImages({ storage, renderer, observer: combineObservers(metrics, createTracing()) });
 */
export function combineObservers(...observers: Observer[]): Observer {
  for (const [index, each] of observers.entries()) {
    checkValue(`combineObservers: observers[${index}]`, each, shapes.observer);
  }
  return {
    observe(operation, work, outcomeOf) {
      const all = observers.reduceRight((inner, observer) => {
        return () => observer.observe(operation, inner, outcomeOf);
      }, work);
      return all();
    },
    served(from) {
      for (const observer of observers) observer.served(from);
    },
    // One observer that cannot report such requests observes every request, so all do.
    ...(observers.every(({ answered }) => answered !== undefined) && {
      answered(request: AnsweredRequest) {
        for (const observer of observers) observer.answered?.(request);
      },
    }),
    gauge(name, read) {
      const removals = observers.map((observer) => observer.gauge(name, read));
      return () => {
        for (const remove of removals) remove();
      };
    },
  };
}
