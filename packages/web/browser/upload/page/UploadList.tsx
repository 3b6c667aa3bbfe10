import type { Session } from "../session.ts";
import { failuresFirst } from "../store/uploads.ts";
import { leaveCard } from "./leave-card.ts";
import { UploadBar } from "./UploadBar.tsx";
import { UploadEntry } from "./UploadEntry.tsx";

/** A longer list shows rows. */
const LONGEST_OF_CARDS = 5;

/** The files added on this visit. */
export function UploadList({ session }: { session: Session }) {
  const uploads = failuresFirst(session.uploads.value);
  if (uploads.length === 0) return null;
  return (
    <div class="uploads">
      <UploadBar session={session} />
      <ul class="entries">
        {uploads.map((upload) => (
          <UploadEntry
            key={upload.key}
            upload={upload}
            session={session}
            isCompact={uploads.length > LONGEST_OF_CARDS}
            onLeave={(card) => {
              leaveCard(card);
              session.dismiss([upload]);
            }}
          />
        ))}
      </ul>
    </div>
  );
}
