import { useState } from "preact/hooks";
import type { Session } from "../session.ts";
import {
  editAddress,
  fileAddress,
  firstFormat,
  markdownOf,
  markupOf,
  originalFormat,
  pageAddress,
  SHARED_FORMATS,
} from "../share-texts.ts";
import type { SavedImage } from "../store/saved-image.ts";
import { CopyButton } from "./CopyButton.tsx";
import { DeleteButton } from "./DeleteButton.tsx";
import { OpenIcon } from "./icons.tsx";

export interface ShareLinksProps {
  image: SavedImage;
  session: Session;
  /** Called after the image was deleted from the server. */
  onDeleted(): void;
}

/** Links and actions of a stored image. */
export function ShareLinks({ image, session, onDeleted }: ShareLinksProps) {
  const [format, setFormat] = useState(firstFormat(image));
  const { log } = session;
  const page = pageAddress(image);
  const original = originalFormat(image);
  return (
    <div class="share">
      <div class="link">
        <input
          class="address"
          aria-label={`Link to ${image.name}`}
          readOnly
          value={page}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
        <CopyButton text={page} what="Link" log={log}>
          Copy link
        </CopyButton>
      </div>
      <div class="formats">
        <select
          aria-label="Format"
          value={format}
          onChange={({ currentTarget }) => {
            const chosen = SHARED_FORMATS.find((each) => each.format === currentTarget.value);
            if (chosen !== undefined) setFormat(chosen.format);
          }}
        >
          {SHARED_FORMATS.map((each) => (
            <option key={each.format} value={each.format}>
              {each.label}
              {each.format === original && " (original)"}
            </option>
          ))}
        </select>
        <CopyButton className="minor" text={fileAddress(image, format)} what="Direct link" log={log}>
          Direct link
        </CopyButton>
        <CopyButton className="minor" text={markdownOf(image, format)} what="Markdown" log={log}>
          Markdown
        </CopyButton>
        <CopyButton className="minor" text={markupOf(image, format)} what="HTML" log={log}>
          HTML
        </CopyButton>
      </div>
      <div class="deeds">
        <a class="quiet" href={page}>
          <OpenIcon /> Open<span class="unseen"> {image.name}</span>
        </a>
        <CopyButton className="quiet" text={editAddress(image)} what="Edit link" log={log}>
          Edit link
        </CopyButton>
        <DeleteButton image={image} images={session.images} onDeleted={onDeleted} />
      </div>
    </div>
  );
}
