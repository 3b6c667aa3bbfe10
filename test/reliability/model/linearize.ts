import { type ImageModel, step } from "./image-model.ts";
import type { HistoryEvent } from "./operation.ts";

/**
 * Whether a history is linearizable: one operation after the other, each at a moment between its call and its reply
 * (Herlihy and Wing 1990). Searches for such an order, and visits no state twice.
 */
export function isLinearizable(start: ImageModel, history: readonly HistoryEvent[]): boolean {
  const events = history.map((event) => ({ event, isContended: isContended(event, history) }));
  const dead = new Set<string>();

  function search(image: ImageModel, left: readonly number[]): boolean {
    if (left.length === 0) return true;
    const place = `${left.join()} ${JSON.stringify(image)}`;
    if (dead.has(place)) return false;
    const firstReturn = Math.min(...left.map((index) => events[index]?.event.returnedAt ?? 0));
    for (const index of left) {
      const next = events[index];
      if (next === undefined || next.event.invokedAt > firstReturn) continue;
      const after = step(image, next.event.operation, next.event.outcome, next);
      const rest = left.filter((other) => other !== index);
      if (after !== null && search(after, rest)) return true;
    }
    dead.add(place);
    return false;
  }

  return search(
    start,
    events.map((_, index) => index),
  );
}

/** Whether another client may have changed the image between an operation's call and its reply. */
function isContended(event: HistoryEvent, history: readonly HistoryEvent[]): boolean {
  return history.some(
    (other) => other !== event && other.invokedAt < event.returnedAt && other.returnedAt > event.invokedAt,
  );
}
