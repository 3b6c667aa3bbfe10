import { timeLeftText } from "../../../src/time-left.ts";
import type { Clock } from "../store/clock.ts";
import type { SavedImage } from "../store/saved-image.ts";

/** The time until an image expires. */
export function TimeLeft({ image: { expiresAt }, clock }: { image: SavedImage; clock: Clock }) {
  const text = timeLeftText(expiresAt, clock.everyHalfMinute.value);
  return (
    <span class="time-left">
      {" · "}
      <time dateTime={expiresAt} title={new Date(expiresAt).toLocaleString()}>
        {text}
      </time>
    </span>
  );
}
