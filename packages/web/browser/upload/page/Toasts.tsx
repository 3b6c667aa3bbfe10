import type { Departing } from "../store/departing.ts";
import { departureText, TOASTS_CLASS } from "../store/departing.ts";

/** What was removed or deleted a moment ago, with buttons to undo it. */
export function Toasts({ departing }: { departing: Departing }) {
  const { departures, failure, undo } = departing;
  const isEmpty = departures.value.length === 0 && failure.value === null;
  if (isEmpty) return null;
  return (
    <section class={TOASTS_CLASS} aria-label="Undo">
      {failure.value !== null && (
        <div class="toast">
          <p dir="auto">{failure.value}</p>
          <button
            type="button"
            class="small plain"
            onClick={() => {
              failure.value = null;
            }}
          >
            Dismiss
          </button>
        </div>
      )}
      {departures.value.map((departure) => (
        <div key={departure.number} class="toast">
          <p dir="auto">{departureText(departure)}</p>
          <button type="button" class="small" aria-keyshortcuts="Control+Z" onClick={() => undo(departure)}>
            Undo
            {departure.images.length === 1 && <span class="unseen"> for {departure.images[0]?.name}</span>}
          </button>
        </div>
      ))}
    </section>
  );
}
