import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { Session } from "../session.ts";
import { entryId } from "../store/departing.ts";
import { canRetry, isOver, type Upload } from "../store/uploads.ts";
import { RetryIcon } from "./icons.tsx";
import { KnownFile } from "./KnownFile.tsx";
import { LeaveButton } from "./LeaveButton.tsx";
import { NameField } from "./NameField.tsx";
import { nameFieldId } from "./OwnerActions.tsx";
import { ShareLinks } from "./ShareLinks.tsx";
import { StageLine } from "./StageLine.tsx";
import { Thumbnail } from "./Thumbnail.tsx";
import { UploadFacts } from "./UploadFacts.tsx";

export interface UploadCardProps {
  upload: Upload;
  session: Session;
  /** Called before the card is removed. */
  onLeave(card: Element | null): void;
  /** The button that makes a row of the card; `false` in a short list. */
  toggle: ComponentChildren;
}

/** The card of one file: uploading, failed or stored. */
export function UploadCard({ upload, session, onLeave, toggle }: UploadCardProps) {
  const card = useRef<HTMLLIElement>(null);
  const { name, label, stage, image } = upload;
  const isServed = stage.kind === "ready" && image?.unavailable === undefined;
  const leave = () => onLeave(card.current);
  return (
    <li
      ref={card}
      id={image === null ? undefined : entryId(image)}
      tabIndex={-1}
      class={`entry ${stage.kind}`}
    >
      <Thumbnail localUrl={upload.previewUrl} image={isServed ? image : null} label={label} />
      <div class="body">
        <div class="entry-top">
          <NameField
            id={image === null ? undefined : nameFieldId(image)}
            name={name}
            onName={(chosen) => rename(chosen)}
            isFixed={isOver(upload)}
          />
          <LeaveButton upload={upload} onLeave={leave} />
          {toggle}
        </div>
        <UploadFacts upload={upload} clock={session.clock} showsExpiry={image?.unavailable !== undefined} />
        {upload.note !== null && <p class="facts">{upload.note}</p>}
        <StageLine upload={upload} clock={session.clock} />
        {canRetry(upload) && (
          <button type="button" class="small" onClick={() => session.retry(upload)}>
            <RetryIcon /> Try again
          </button>
        )}
        {stage.kind === "known" && (
          <KnownFile image={stage.image} log={session.log} onAgain={() => session.retry(upload)} />
        )}
        {image !== null && image.unavailable === undefined && <ShareLinks image={image} session={session} />}
      </div>
    </li>
  );

  async function rename(chosen: string): Promise<string | null> {
    if (image !== null && stage.kind === "ready") return session.images.rename(image, chosen);
    session.nameLater(upload, chosen);
    return null;
  }
}
