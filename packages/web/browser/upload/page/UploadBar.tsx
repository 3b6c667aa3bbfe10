import { useRef } from "preact/hooks";
import type { Session } from "../session.ts";
import { pageAddress } from "../share-texts.ts";
import { headingText } from "../store/totals.ts";
import { canRetry, isUnfinished } from "../store/uploads.ts";
import { CopyButton } from "./CopyButton.tsx";
import { CHOOSER_ID } from "./DropArea.tsx";

/** The state of all uploads together, with actions on all of them. It stays in view while the list scrolls. */
export function UploadBar({ session }: { session: Session }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const uploads = session.uploads.value;
  const totals = session.totals.value;
  const { active, failed, sentBytes, wantedBytes } = totals;
  const unfinished = uploads.filter(isUnfinished);
  const retried = uploads.filter(canRetry);
  const shared = uploads.flatMap(({ image }) => (image === null ? [] : [pageAddress(image)]));

  function cancelAll(): void {
    // The button disappears, and with the last upload the whole bar.
    const isLast = unfinished.length === uploads.length;
    (isLast ? document.getElementById(CHOOSER_ID) : heading.current)?.focus();
    session.dismiss(unfinished);
  }

  function retryAll(): void {
    heading.current?.focus();
    retried.forEach(session.retry);
  }

  return (
    <div class="heading upload-bar">
      <h2 ref={heading} tabIndex={-1}>
        {headingText(totals, session.timeLeft.value)}
      </h2>
      {unfinished.length > 0 && (
        <button type="button" class="small plain" onClick={cancelAll}>
          Cancel all
        </button>
      )}
      {failed > 0 && (
        <button type="button" class="small plain" onClick={showFailed}>
          Show<span class="unseen"> what was not uploaded</span>
        </button>
      )}
      {active === 0 && retried.length > 0 && (
        <button type="button" class="small plain" onClick={retryAll}>
          Retry all
        </button>
      )}
      {active === 0 && shared.length > 1 && (
        <CopyButton text={shared.join("\n")} what="All links" log={session.log}>
          Copy all links
        </CopyButton>
      )}
      {active > 0 && <progress aria-label="All uploads" value={sentBytes} max={Math.max(1, wantedBytes)} />}
    </div>
  );
}

function showFailed(): void {
  const card = document.querySelector(".uploads .entry.failed");
  if (card instanceof HTMLElement) card.focus();
}
