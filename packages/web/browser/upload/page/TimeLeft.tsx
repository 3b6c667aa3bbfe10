import { expiryText } from "../../saved/expiry.ts";
import type { SavedImage, Unavailable } from "../../saved/saved-image.ts";
import { localText } from "../../viewer/local-time.ts";
import type { Clock } from "../store/clock.ts";

const WHY_NOT: Record<Unavailable, string> = {
  deleted: "deleted",
  expired: "expired",
  missing: "not found",
  withheld: "unavailable for legal reasons",
};

/** The time until an image expires, or why the service does not serve it. */
export function TimeLeft({ image, clock }: { image: SavedImage; clock: Clock }) {
  const { expiresAt, unavailable } = image;
  if (unavailable !== undefined) return <strong class="unavailable">{WHY_NOT[unavailable]}</strong>;
  if (expiresAt === null) return <span class="time-left">{expiryText(null, 0)}</span>;
  const nowMs = clock.everyHalfMinute.value;
  // The expiry may have been changed elsewhere: only the service knows.
  const doubt = Date.parse(expiresAt) <= nowMs ? " (not confirmed yet)" : "";
  return (
    <time class="time-left" dateTime={expiresAt} title={localText(Date.parse(expiresAt))}>
      {expiryText(expiresAt, nowMs)}
      {doubt}
    </time>
  );
}
