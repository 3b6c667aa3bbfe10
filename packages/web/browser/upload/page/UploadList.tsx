import type { Session } from "../session.ts";
import { pageAddress } from "../share-texts.ts";
import { isUnfinished, type Upload } from "../store/uploads.ts";
import { CopyButton } from "./CopyButton.tsx";
import { leaveCard } from "./leave-card.ts";
import { UploadCard } from "./UploadCard.tsx";

/** The files added on this visit. */
export function UploadList({ session }: { session: Session }) {
  const uploads = session.uploads.value;
  if (uploads.length === 0) return null;
  const shared = uploads.flatMap(({ image }) => (image === null ? [] : [pageAddress(image)]));
  return (
    <div class="uploads">
      <div class="heading">
        <h2>{summaryOf(uploads)}</h2>
        {shared.length > 1 && (
          <CopyButton text={shared.join("\n")} what="All links" log={session.log}>
            Copy all links
          </CopyButton>
        )}
      </div>
      <ul class="entries">
        {uploads.map((upload) => (
          <UploadCard
            key={upload.key}
            upload={upload}
            session={session}
            onLeave={(card) => {
              leaveCard(card);
              session.dismiss(upload);
            }}
          />
        ))}
      </ul>
    </div>
  );
}

function summaryOf(uploads: readonly Upload[]): string {
  const stored = uploads.filter(({ stage }) => stage.kind === "ready").length;
  if (uploads.some(isUnfinished)) {
    const wanted = uploads.filter(({ stage }) => stage.kind !== "failed").length;
    return `Uploading: ${stored} of ${wanted} done`;
  }
  if (stored === 0) return "Upload failed";
  return stored === 1 ? "Your image is ready to share" : `${stored} images are ready to share`;
}
