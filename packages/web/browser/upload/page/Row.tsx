import { useRef, useState } from "preact/hooks";
import { shortTypeName } from "../../../src/formats.ts";
import { sizeText } from "../../../src/phrases.ts";
import { dateText, type TextKey, t } from "../../../src/texts.ts";
import { timeLeftText } from "../../../src/time-left.ts";
import type { SavedImage, Unavailable } from "../../saved/saved-image.ts";
import type { Session } from "../session.ts";
import { fileAddress, pageAddress } from "../share-texts.ts";
import { everyHalfMinute } from "../store/clock.ts";
import { say } from "../store/messages.ts";
import { canRetry, isUnfinished, servedImage, sizeOf, type Upload } from "../store/uploads.ts";
import { CopyButton } from "./CopyButton.tsx";
import { CHOOSER_ID } from "./DropArea.tsx";
import { Icon } from "./icons.tsx";
import { removeFromList } from "./list-actions.ts";
import { RowMenu } from "./RowMenu.tsx";
import { StageLine } from "./StageLine.tsx";

const WHY_NOT: Record<Unavailable, TextKey> = {
  deleted: "uploads.deleted",
  expired: "left.expired",
  missing: "uploads.missing",
  withheld: "uploads.withheld",
};

export interface RowProps {
  upload: Upload;
  session: Session;
  /** Whether the row is selected; absent: it cannot be. */
  isSelected?: boolean | undefined;
  onSelect?(): void;
}

/** One entry: a file that is uploading, failed or stored, or an image of an earlier visit. */
export function Row({ upload, session, isSelected, onSelect }: RowProps) {
  const row = useRef<HTMLLIElement>(null);
  /** The result of the last action. */
  const [note, setNote] = useState<string | null>(null);
  const { name, stage } = upload;
  const image = servedImage(upload);

  function tell(text: string | null): void {
    setNote(text);
    if (text !== null) say(text);
  }

  const leave = () => leaveRow(row.current);
  return (
    <li ref={row} class={`entry ${stage.kind}`}>
      {isSelected !== undefined && (
        <input
          type="checkbox"
          aria-label={t("uploads.selectNamed", { name })}
          checked={isSelected}
          onChange={onSelect}
        />
      )}
      <Thumbnail upload={upload} />
      <div class="body">
        <p class="title" dir="auto" title={name}>
          {name}
        </p>
        <div class="state">
          {stage.kind === "ready" ? <Facts upload={upload} /> : <StageLine upload={upload} />}
          {stage.kind === "ready" && stage.isHeld && <p>{t("uploads.held")}</p>}
          {note !== null && <p>{note}</p>}
        </div>
      </div>
      <div class="acts">
        {image !== null && (
          <CopyButton
            text={pageAddress(image)}
            said={t("uploads.linkCopied")}
            label={t("uploads.copyLinkNamed", { name })}
          >
            {t("uploads.copyLink")}
          </CopyButton>
        )}
        {canRetry(upload) && (
          <button
            type="button"
            aria-label={t("uploads.retryNamed", { name })}
            onClick={() => session.retry(upload)}
          >
            {t("uploads.retry")}
          </button>
        )}
        {image !== null ? (
          <RowMenu image={image} session={session} tell={tell} onLeave={leave} />
        ) : (
          <LeaveButton upload={upload} session={session} onLeave={leave} />
        )}
      </div>
    </li>
  );
}

/** The kind and size of a file, the kind that it was before the service converted it, when its image expires, and what it lacks. */
function Facts({ upload: { label, chosen, image, loss }, upload }: { upload: Upload }) {
  const kind = image === null ? label : shortTypeName(image.type);
  const known = [kind, chosen !== null && sizeText(sizeOf(upload))].filter(Boolean).join(", ");
  return (
    <p class="facts">
      {known !== "" && <span class="kind">{known} · </span>}
      {image?.source !== undefined && (
        <span>{t("uploads.from", { type: shortTypeName(image.source) })} · </span>
      )}
      {image !== null && <TimeLeft image={image} />}
      {loss !== null && <span title={loss}> · {t("uploads.notKept", { parts: loss })}</span>}
    </p>
  );
}

/** The time until an image expires, or why the service does not serve it. */
function TimeLeft({ image: { expiresAt, unavailable } }: { image: SavedImage }) {
  if (unavailable !== undefined) return <strong class="unavailable">{t(WHY_NOT[unavailable])}</strong>;
  if (expiresAt === null) return <span>{t("uploads.neverExpires")}</span>;
  const nowMs = everyHalfMinute.value;
  // The expiry may have been changed elsewhere: only the service knows.
  const isUnsure = Date.parse(expiresAt) <= nowMs;
  const left = timeLeftText(expiresAt, nowMs) ?? "";
  return (
    <time dateTime={expiresAt} title={dateText(Date.parse(expiresAt))}>
      {isUnsure ? t("uploads.unsure", { left }) : left}
    </time>
  );
}

/** A thumbnail from this browser, or else from the server. It opens the page of a served image. */
function Thumbnail({ upload }: { upload: Upload }) {
  const [broken, setBroken] = useState<string | null>(null);
  const image = servedImage(upload);
  const url = upload.previewUrl ?? (image === null ? null : `${fileAddress(image, "webp")}?resize=192x192`);
  const picture =
    url === null || url === broken ? (
      <span aria-hidden="true">{upload.label ?? "?"}</span>
    ) : (
      <img src={url} alt="" loading="lazy" decoding="async" onError={() => setBroken(url)} />
    );
  if (image === null) return <div class="thumbnail">{picture}</div>;
  return (
    <a class="thumbnail" href={pageAddress(image)} aria-label={t("uploads.open", { name: upload.name })}>
      {picture}
    </a>
  );
}

/** A button that cancels an upload, dismisses a failed one, or takes an image that is not served off the list. */
function LeaveButton({ upload, session, onLeave }: RowProps & { onLeave(): void }) {
  const { name, stage, image } = upload;
  if (stage.kind === "processing") return null;
  const act = isUnfinished(upload) ? "uploads.cancel" : "uploads.dismiss";
  const label = t(image !== null ? "uploads.removeNamed" : act, { name });
  function leave(): void {
    if (image !== null) removeFromList(session, [image], onLeave);
    else {
      onLeave();
      session.dismiss([upload]);
    }
  }
  return (
    <button type="button" class="quiet round" aria-label={label} onClick={leave}>
      <Icon name="cross" />
    </button>
  );
}

/** Moves the focus off a row that is about to be removed: to the neighbouring row, else to the file chooser. */
function leaveRow(row: Element | null): void {
  const focused = document.activeElement;
  // After the focused element is removed, the body has the focus.
  if (row === null || !(focused === document.body || row.contains(focused))) return;
  const neighbour = row.nextElementSibling ?? row.previousElementSibling;
  const target = neighbour?.querySelector("button") ?? document.getElementById(CHOOSER_ID);
  target?.focus();
}
