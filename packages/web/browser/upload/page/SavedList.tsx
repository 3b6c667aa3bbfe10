import type { Session } from "../session.ts";
import { ConfirmedButton } from "./ConfirmedButton.tsx";
import { SavedCard } from "./SavedCard.tsx";

/** Images of earlier visits that this browser has saved. */
export function SavedList({ session }: { session: Session }) {
  const shown = new Set(session.uploads.value.map(({ image }) => image?.id));
  const earlier = session.saved.list.value.filter(({ id }) => !shown.has(id));
  if (earlier.length === 0) return null;
  return (
    <div class="saved">
      <div class="heading">
        <h2>Your uploads on this device</h2>
        <ConfirmedButton
          label="Clear list of uploads"
          question="Clear this list? The images stay online, and you won’t be able to edit or delete them."
          yes="Clear list"
          no="Cancel"
          onConfirmed={() => {
            for (const image of earlier) session.saved.forget(image.id);
            session.log.say("List cleared.");
          }}
        >
          Clear list
        </ConfirmedButton>
      </div>
      <p class="hint">Saved only in this browser. Anyone using it can see, edit or delete these images.</p>
      <ul class="entries">
        {earlier.map((image) => (
          <SavedCard key={image.id} image={image} session={session} />
        ))}
      </ul>
    </div>
  );
}
