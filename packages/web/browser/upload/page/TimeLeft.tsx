import { expiryText } from "../../saved/expiry.ts";
import type { SavedImage, Unavailable } from "../../saved/saved-image.ts";
import { localText } from "../../viewer/local-time.ts";
import { everyHalfMinute } from "../store/clock.ts";

const WHY_NOT: Record<Unavailable, string> = {
  deleted: "deleted",
  expired: "expired",
  missing: "not found",
  withheld: "unavailable for legal reasons",
};

/** The time until an image expires, or why the service does not serve it. */
export function TimeLeft({ image: { expiresAt, unavailable } }: { image: SavedImage }) {
  if (unavailable !== undefined) return <strong class="unavailable">{WHY_NOT[unavailable]}</strong>;
  if (expiresAt === null) return <span>{expiryText(null, 0)}</span>;
  const nowMs = everyHalfMinute.value;
  // The expiry may have been changed elsewhere: only the service knows.
  const unsure = Date.parse(expiresAt) <= nowMs ? " (not confirmed yet)" : "";
  return (
    <time dateTime={expiresAt} title={localText(Date.parse(expiresAt))}>
      {expiryText(expiresAt, nowMs)}
      {unsure}
    </time>
  );
}
