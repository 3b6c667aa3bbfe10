import type { SavedImage } from "../../saved/saved-image.ts";
import { pageAddress } from "../share-texts.ts";
import type { MessageLog } from "../store/message-log.ts";
import { CopyButton } from "./CopyButton.tsx";

export interface KnownFileProps {
  /** The image of the earlier upload. */
  image: SavedImage;
  log: MessageLog;
  onAgain(): void;
}

/** The choice between the link of an earlier upload of the same file and a new upload. */
export function KnownFile({ image, log, onAgain }: KnownFileProps) {
  const { name } = image;
  return (
    <div class="known-file">
      <p>You already uploaded this:</p>
      <CopyButton text={pageAddress(image)} what="Link" log={log}>
        Copy link<span class="unseen"> to {name}</span>
      </CopyButton>
      <button type="button" class="plain" onClick={onAgain}>
        Upload again
      </button>
    </div>
  );
}
