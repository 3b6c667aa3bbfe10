import { useRef } from "preact/hooks";
import { pageAddress } from "../share-texts.ts";
import { entryId } from "../store/departing.ts";
import { canRetry } from "../store/uploads.ts";
import { CopyButton } from "./CopyButton.tsx";
import { LeaveButton } from "./LeaveButton.tsx";
import { StageLine } from "./StageLine.tsx";
import { Thumbnail } from "./Thumbnail.tsx";
import type { UploadCardProps } from "./UploadCard.tsx";
import { UploadFacts } from "./UploadFacts.tsx";

/** One file in a long list: its name, its state and the next step. */
export function UploadRow({ upload, session, onLeave, toggle }: UploadCardProps) {
  const row = useRef<HTMLLIElement>(null);
  const { name, stage } = upload;
  const isServed = stage.kind === "ready" && upload.image?.unavailable === undefined;
  const shared = stage.kind === "known" ? stage.image : upload.image;
  return (
    <li
      ref={row}
      id={upload.image === null ? undefined : entryId(upload.image)}
      tabIndex={-1}
      class={`entry row ${stage.kind}`}
    >
      <Thumbnail localUrl={upload.previewUrl} image={isServed ? upload.image : null} label={upload.label} />
      <div class="body">
        <p class="title">{name}</p>
        {stage.kind === "ready" ? (
          <UploadFacts upload={upload} clock={session.clock} showsExpiry />
        ) : stage.kind === "known" ? (
          <p class="facts">Already uploaded</p>
        ) : (
          <StageLine upload={upload} clock={session.clock} />
        )}
      </div>
      {shared !== null && shared.unavailable === undefined && (
        <CopyButton className="small" text={pageAddress(shared)} what="Link" log={session.log}>
          Copy link<span class="unseen"> to {name}</span>
        </CopyButton>
      )}
      {canRetry(upload) && (
        <button type="button" class="small" onClick={() => session.retry(upload)}>
          Try again<span class="unseen"> with {name}</span>
        </button>
      )}
      <LeaveButton upload={upload} onLeave={() => onLeave(row.current)} />
      {toggle}
    </li>
  );
}
