import { useState } from "preact/hooks";
import type { SavedImage } from "../../saved/saved-image.ts";
import type { Session } from "../session.ts";
import {
  fileAddress,
  firstFormat,
  markdownOf,
  markupOf,
  originalFormat,
  pageAddress,
  SHARED_FORMATS,
} from "../share-texts.ts";
import { CopyButton } from "./CopyButton.tsx";
import { OwnerActions } from "./OwnerActions.tsx";
import { SharingButtons } from "./SharingButtons.tsx";
import { SquareCut } from "./SquareCut.tsx";

/** Links and actions of a stored image. */
export function ShareLinks({ image, session }: { image: SavedImage; session: Session }) {
  const [format, setFormat] = useState(firstFormat(image));
  const { log, config } = session;
  const { name } = image;
  const page = pageAddress(image);
  const original = originalFormat(image);
  return (
    <div class="share">
      <div class="link">
        <input
          class="address"
          aria-label={`Link to ${name}`}
          dir="ltr"
          readOnly
          value={page}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
        <CopyButton text={page} what="Link" log={log}>
          Copy link<span class="unseen"> to {name}</span>
        </CopyButton>
        <SharingButtons image={image} log={log} />
      </div>
      <div class="formats">
        <select
          aria-label={`Format of ${name}`}
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
          Direct link<span class="unseen"> to {name}</span>
        </CopyButton>
        <CopyButton className="minor" text={markdownOf(image, format)} what="Markdown" log={log}>
          Markdown<span class="unseen"> for {name}</span>
        </CopyButton>
        <CopyButton className="minor" text={markupOf(image, format)} what="HTML" log={log}>
          HTML<span class="unseen"> for {name}</span>
        </CopyButton>
      </div>
      {config.squareSide !== null && <SquareCut image={image} side={config.squareSide} log={log} />}
      <OwnerActions image={image} session={session} />
    </div>
  );
}
