import type { ImageFormat } from "@outrigger/core/images";
import type { TargetedKeyboardEvent } from "preact";
import { useState } from "preact/hooks";
import { FORMAT_NAMES } from "../../../src/formats.ts";
import { editAddress, type SavedImage } from "../../saved/saved-image.ts";
import { canShare, shareLink, showQr } from "../../sharing/share-link.ts";
import type { Session } from "../session.ts";
import {
  fileAddress,
  firstFormat,
  markdownOf,
  markupOf,
  originalFormat,
  pageAddress,
} from "../share-texts.ts";
import { say } from "../store/messages.ts";
import { MAX_NAME_LENGTH } from "../store/next-options.ts";
import { CopyButton } from "./CopyButton.tsx";
import { Icon } from "./icons.tsx";

export interface CardDetailsProps {
  id: string;
  image: SavedImage;
  session: Session;
  /** Called before the card is removed. */
  onLeave(): void;
}

/** Links of a stored image, and what its uploader can do with it. */
export function CardDetails({ id, image, session, onLeave }: CardDetailsProps) {
  /** Why the last action failed, or what the reader should know about it. */
  const [note, setNote] = useState<string | null>(null);
  const mayEdit = image.pin !== "";
  const ofImage = <span class="unseen"> {image.name}</span>;

  function tell(text: string | null): void {
    setNote(text);
    if (text !== null) say(text);
  }

  async function remove(): Promise<void> {
    if (!confirm(`Delete ${image.name} for everyone? This cannot be undone.`)) return;
    const reason = await session.remove(image);
    if (reason !== null) return tell(`${image.name} was not deleted. ${reason}`);
    say(`${image.name} deleted.`);
    onLeave();
    session.saved.forget([image.id]);
  }

  // The image can be changed on the edit page: it is checked when the reader returns.
  const checkLater = () => session.saved.change(image.id, { checkedAt: undefined });

  return (
    <div id={id} class="details">
      <PageLink image={image} tell={tell} />
      <FileLinks image={image} />
      {mayEdit && (
        <>
          <TextField session={session} image={image} field="name" label="Name" maxLength={MAX_NAME_LENGTH} />
          <TextField
            session={session}
            image={image}
            field="description"
            label="Description"
            maxLength={1000}
          />
        </>
      )}
      <div class="line deeds">
        {mayEdit && (
          <>
            <a class="quiet" href={editAddress(image)} onClick={checkLater} onAuxClick={checkLater}>
              <Icon name="pen" /> Edit{ofImage}
            </a>
            <button type="button" class="quiet" onClick={() => void remove()}>
              <Icon name="bin" /> Delete{ofImage}
            </button>
          </>
        )}
        <button type="button" class="quiet" onClick={() => removeFromList(session, [image], onLeave)}>
          Remove<span class="unseen"> {image.name}</span> from this list
        </button>
        {mayEdit && (
          <CopyButton
            className="quiet"
            text={editAddress(image)}
            what="Edit link"
            onCopied={() => tell("Anyone with the edit link can edit or delete the image.")}
          >
            Copy edit link<span class="unseen"> of {image.name}</span>
          </CopyButton>
        )}
      </div>
      {note !== null && <p class="hint">{note}</p>}
    </div>
  );
}

/** The address of the image's page, to copy, to share and as QR code. */
function PageLink({ image, tell }: { image: SavedImage; tell: (text: string | null) => void }) {
  const page = pageAddress(image);
  return (
    <div class="line">
      <input
        class="address"
        aria-label={`Link to ${image.name}`}
        dir="ltr"
        readOnly
        value={page}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      {canShare() && (
        <button
          type="button"
          class="plain"
          aria-label={`Share… ${image.name}`}
          onClick={async () => tell(await shareLink(image.name, page))}
        >
          Share…
        </button>
      )}
      <button
        type="button"
        class="plain"
        aria-label={`QR code of the link to ${image.name}`}
        onClick={async () => tell(await showQr(image.name, page))}
      >
        QR
      </button>
    </div>
  );
}

/** Takes images off the list of this browser. The PIN of one that exists is lost, so this is asked first. */
export function removeFromList(session: Session, images: readonly SavedImage[], onLeave: () => void): void {
  const lost = images.filter(({ pin, unavailable = "withheld" }) => pin !== "" && unavailable === "withheld");
  const names = images.length === 1 ? images[0]?.name : `${images.length} images`;
  const loss = `You will no longer be able to edit or delete ${lost.length === 1 ? "the image" : "the images"}.`;
  if (lost.length > 0 && !confirm(`Remove ${names} from this list? ${loss}`)) return;
  onLeave();
  session.saved.forget(images.map(({ id }) => id));
  say(`${names} removed from this list.`);
}

/** The addresses of a format, to copy. */
function FileLinks({ image }: { image: SavedImage }) {
  const [format, setFormat] = useState(firstFormat(image));
  const original = originalFormat(image);
  return (
    <div class="line formats">
      <select
        aria-label={`Format of ${image.name}`}
        value={format}
        // The options are the formats.
        onChange={({ currentTarget }) => setFormat(currentTarget.value as ImageFormat)}
      >
        {Object.entries(FORMAT_NAMES).map(([each, label]) => (
          <option key={each} value={each}>
            {label}
            {each === original && " (original)"}
          </option>
        ))}
      </select>
      <CopyButton className="plain" text={fileAddress(image, format)} what="Direct link">
        Direct link<span class="unseen"> to {image.name}</span>
      </CopyButton>
      <CopyButton className="plain" text={markdownOf(image, format)} what="Markdown">
        Markdown<span class="unseen"> for {image.name}</span>
      </CopyButton>
      <CopyButton className="plain" text={markupOf(image, format)} what="HTML">
        HTML<span class="unseen"> for {image.name}</span>
      </CopyButton>
    </div>
  );
}

interface TextFieldProps extends Pick<CardDetailsProps, "session" | "image"> {
  field: "name" | "description";
  label: string;
  maxLength: number;
}

/** A text about an image, as an editable field. Enter and leaving the field save; Escape restores. */
function TextField({ session, image, field, label, maxLength }: TextFieldProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const value = image[field] ?? "";

  async function keep(input: HTMLInputElement): Promise<void> {
    const chosen = input.value.trim();
    const isMissing = field === "name" && chosen === "";
    setProblem(isMissing || chosen === value ? null : await session.edit(image, { [field]: chosen }));
    if (isMissing) input.value = value;
  }

  function press({ key, currentTarget }: TargetedKeyboardEvent<HTMLInputElement>): void {
    if (key === "Enter") void keep(currentTarget);
    if (key === "Escape") currentTarget.value = value;
  }

  return (
    <label class="line rename">
      {label}
      <input
        type="text"
        dir="auto"
        aria-label={`${label} of ${image.name}`}
        value={value}
        maxLength={maxLength}
        autocomplete="off"
        spellcheck={false}
        onKeyDown={press}
        onBlur={({ currentTarget }) => void keep(currentTarget)}
      />
      {problem !== null && <span class="trouble">Not changed. {problem}</span>}
    </label>
  );
}
