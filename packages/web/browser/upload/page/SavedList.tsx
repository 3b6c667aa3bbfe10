import type { Session } from "../session.ts";
import { ConfirmedButton } from "./ConfirmedButton.tsx";
import { SavedCard } from "./SavedCard.tsx";

/** What this browser remembers of earlier visits. */
export function SavedList({ session }: { session: Session }) {
  const shown = new Set(session.uploads.value.map(({ image }) => image?.id));
  const earlier = session.saved.list.value.filter(({ id }) => !shown.has(id));
  if (earlier.length === 0) return null;
  return (
    <div class="saved">
      <div class="heading">
        <h2>Uploads of this browser</h2>
        <ConfirmedButton
          label="Forget all uploads of this browser"
          question="Forget them? They stay on the server."
          yes="Forget all"
          no="Keep"
          onConfirmed={() => {
            for (const image of earlier) session.saved.forget(image.id);
            session.log.say("This browser has forgotten its uploads.");
          }}
        >
          Forget all
        </ConfirmedButton>
      </div>
      <p class="hint">
        Kept in this browser only. Anybody who uses it sees them here, and can change or delete them.
      </p>
      <ul class="entries">
        {earlier.map((image) => (
          <SavedCard key={image.id} image={image} session={session} />
        ))}
      </ul>
    </div>
  );
}
