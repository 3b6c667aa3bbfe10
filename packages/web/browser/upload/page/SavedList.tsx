import type { Session } from "../session.ts";
import { SavedCard } from "./SavedCard.tsx";
import { SavedLinks } from "./SavedLinks.tsx";

/** Images of earlier visits that this browser has saved. */
export function SavedList({ session }: { session: Session }) {
  const shown = new Set(session.uploads.value.map(({ image }) => image?.id));
  const earlier = session.saved.list.value.filter(
    ({ id, leaving }) => leaving === undefined && !shown.has(id),
  );
  return (
    <div class="saved">
      {earlier.length > 0 && (
        <>
          <div class="heading">
            <h2>Your uploads on this device</h2>
            <button
              type="button"
              class="quiet"
              aria-label="Clear list of uploads"
              title="The images stay online. You will no longer be able to edit or delete them."
              onClick={() => session.departing.start(earlier, "list")}
            >
              Clear list
            </button>
          </div>
          <p class="hint">
            Saved only in this browser. Anyone using it can see, edit or delete these images.
          </p>
          <ul class="entries">
            {earlier.map((image) => (
              <SavedCard key={image.id} image={image} session={session} />
            ))}
          </ul>
        </>
      )}
      <SavedLinks session={session} />
    </div>
  );
}
