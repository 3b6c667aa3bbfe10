import { useRef } from "preact/hooks";
import { sizeText } from "../../../src/phrases.ts";
import type { Session } from "../session.ts";
import { isUnfinished, type Upload } from "../store/uploads.ts";
import { CrossIcon, RetryIcon } from "./icons.tsx";
import { NameField } from "./NameField.tsx";
import { ShareLinks } from "./ShareLinks.tsx";
import { StageLine } from "./StageLine.tsx";
import { Thumbnail } from "./Thumbnail.tsx";
import { TimeLeft } from "./TimeLeft.tsx";

export interface UploadCardProps {
  upload: Upload;
  session: Session;
  /** Called before the card is removed. */
  onLeave(card: Element | null): void;
}

/** The card of one file: uploading, failed or stored. */
export function UploadCard({ upload, session, onLeave }: UploadCardProps) {
  const card = useRef<HTMLLIElement>(null);
  const { name, size, label, stage, image } = upload;
  const leave = () => onLeave(card.current);
  return (
    <li ref={card} class={`entry ${stage.kind}`}>
      <Thumbnail localUrl={upload.previewUrl} image={stage.kind === "ready" ? image : null} label={label} />
      <div class="body">
        <div class="entry-top">
          <NameField name={name} onName={(chosen) => rename(chosen)} isFixed={stage.kind === "failed"} />
          {isUnfinished(upload) && (
            <button type="button" class="quiet round" onClick={leave} aria-label={`Cancel ${name}`}>
              <CrossIcon />
            </button>
          )}
          {stage.kind === "failed" && (
            <button type="button" class="quiet round" onClick={leave} aria-label={`Dismiss ${name}`}>
              <CrossIcon />
            </button>
          )}
        </div>
        <p class="facts">
          {label !== null && `${label}, `}
          {sizeText(size)}
          {image !== null && <TimeLeft image={image} clock={session.clock} />}
        </p>
        <StageLine upload={upload} clock={session.clock} />
        {stage.kind === "failed" && stage.canRetry && (
          <button type="button" class="small" onClick={() => session.retry(upload)}>
            <RetryIcon /> Try again
          </button>
        )}
        {image !== null && <ShareLinks image={image} session={session} onDeleted={leaveForGood} />}
      </div>
    </li>
  );

  function leaveForGood(): void {
    leave();
    if (image !== null) session.saved.forget(image.id);
  }

  async function rename(chosen: string): Promise<string | null> {
    if (image !== null && stage.kind === "ready") return session.images.rename(image, chosen);
    session.nameLater(upload, chosen);
    return null;
  }
}
