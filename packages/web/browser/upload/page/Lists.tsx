import { useRef } from "preact/hooks";
import { editAddress, type SavedImage } from "../../saved/saved-image.ts";
import type { Session } from "../session.ts";
import { pageAddress } from "../share-texts.ts";
import { headingText } from "../store/totals.ts";
import { canRetry, failuresFirst, isUnfinished, servedImage } from "../store/uploads.ts";
import { Card } from "./Card.tsx";
import { removeFromList } from "./CardDetails.tsx";
import { CopyButton } from "./CopyButton.tsx";
import { CHOOSER_ID } from "./DropArea.tsx";

/** Cards that are added to a longer list show no details at first. */
const LONGEST_OF_OPEN = 5;

/** The files added on this visit. */
export function UploadList({ session }: { session: Session }) {
  const uploads = failuresFirst(session.uploads.value);
  const atRisk = session.saved.atRisk.value;
  if (uploads.length === 0) return null;
  return (
    <div class="uploads">
      <UploadBar session={session} />
      {atRisk.length > 0 && <RiskNotice session={session} images={atRisk} />}
      <ul class="entries">
        {uploads.map((upload) => (
          <Card
            key={upload.key}
            upload={upload}
            session={session}
            startsOpen={uploads.length <= LONGEST_OF_OPEN}
          />
        ))}
      </ul>
    </div>
  );
}

/** Says that only this page has the PINs of some images. */
function RiskNotice({ session, images }: { session: Session; images: readonly SavedImage[] }) {
  const [link, them] = images.length === 1 ? ["link", "it"] : ["links", "them"];
  return (
    <div class="risk">
      <p class="trouble">
        This browser can’t keep your edit {link}. Copy {them} now.
      </p>
      <CopyButton
        text={images.map(editAddress).join("\n")}
        what={`Edit ${link}`}
        onCopied={() => session.saved.markCopied()}
      >
        Copy edit {link}
      </CopyButton>
    </div>
  );
}

/** The state of all uploads together, with actions on all of them. It stays in view while the list scrolls. */
function UploadBar({ session }: { session: Session }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const uploads = session.uploads.value;
  const totals = session.totals.value;
  const { active, sentBytes, wantedBytes } = totals;
  const unfinished = uploads.filter(isUnfinished);
  const retried = uploads.filter(canRetry);
  const shared = uploads.map(servedImage).filter((image) => image !== null);

  function cancelAll(): void {
    // The button disappears, and with the last upload the whole bar.
    const isLast = unfinished.length === uploads.length;
    (isLast ? document.getElementById(CHOOSER_ID) : heading.current)?.focus();
    session.dismiss(unfinished);
  }

  function retryAll(): void {
    heading.current?.focus();
    for (const upload of retried) session.retry(upload);
  }

  return (
    <div class="heading upload-bar">
      <h2 ref={heading} tabIndex={-1}>
        {headingText(totals)}
      </h2>
      {unfinished.length > 0 && (
        <button type="button" class="plain" onClick={cancelAll}>
          Cancel all
        </button>
      )}
      {active === 0 && retried.length > 0 && (
        <button type="button" class="plain" onClick={retryAll}>
          Retry all
        </button>
      )}
      {active === 0 && shared.length > 1 && (
        <CopyButton className="plain" text={shared.map(pageAddress).join("\n")} what="All links">
          Copy all links
        </CopyButton>
      )}
      {active > 0 && <progress aria-label="All uploads" value={sentBytes} max={Math.max(1, wantedBytes)} />}
    </div>
  );
}

/** Images of earlier visits that this browser has saved. */
export function SavedList({ session }: { session: Session }) {
  const earlier = session.earlier.value;
  if (earlier.length === 0) return null;
  const images = earlier.map(({ image }) => image).filter((image) => image !== null);
  const leave = () => document.getElementById(CHOOSER_ID)?.focus();
  return (
    <div class="saved">
      <div class="heading">
        <h2>Your uploads on this device</h2>
        {images.length > 0 && (
          <button
            type="button"
            class="quiet"
            aria-label="Clear list of uploads"
            onClick={() => removeFromList(session, images, leave)}
          >
            Clear list
          </button>
        )}
      </div>
      <p class="hint">Saved only in this browser. Anyone using it can see, edit or delete these images.</p>
      <ul class="entries">
        {earlier.map((upload) => (
          <Card key={upload.key} upload={upload} session={session} startsOpen={false} />
        ))}
      </ul>
    </div>
  );
}
