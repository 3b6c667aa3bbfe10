import { useState } from "preact/hooks";
import { expirySteps } from "../../saved/expiry.ts";
import { editAddress, type SavedImage } from "../../saved/saved-image.ts";
import { serverNow } from "../../saved/server-clock.ts";
import type { Session } from "../session.ts";
import { pageAddress } from "../share-texts.ts";
import { CopyButton } from "./CopyButton.tsx";
import { BinIcon, OpenIcon, PenIcon } from "./icons.tsx";
import { leaveCard } from "./leave-card.ts";
import { TimeLeft } from "./TimeLeft.tsx";

/** ID of the name field of an image. */
export function nameFieldId({ id }: Pick<SavedImage, "id">): string {
  return `name-${id}`;
}

/** What the uploader can do with an image: extend, rename, edit, delete. */
export function OwnerActions({ image, session }: { image: SavedImage; session: Session }) {
  const [problem, setProblem] = useState<string | null>(null);
  const { id, name } = image;
  const { images, saved, departing, log, clock, config } = session;
  const steps = expirySteps(image.expiresAt, { nowMs: serverNow(), maxLifetimeMs: config.maxLifetimeMs });
  const ofImage = <span class="unseen"> {name}</span>;
  // The image can be changed on the edit page: it is checked when the reader returns.
  const checkLater = () => saved.change(id, { checkedAt: undefined });

  const isUnsaved = saved.isUnsaved(id);
  const copyButton = (
    <CopyButton
      className="minor"
      text={editAddress(image)}
      what="Edit link"
      log={log}
      onCopied={() => saved.markCopied([id])}
    >
      Copy edit link<span class="unseen"> of {name}</span>
    </CopyButton>
  );

  return (
    <>
      {isUnsaved && (
        <div class="deeds">
          <p class="trouble">This browser can’t keep your edit link. Copy it now.</p>
          {copyButton}
        </div>
      )}
      <div class="deeds">
        <TimeLeft image={image} clock={clock} />
        {steps.map(({ label, atMs }) => (
          <button
            key={label}
            type="button"
            class="minor"
            onClick={async ({ currentTarget }) => {
              const card = currentTarget.closest(".share");
              setProblem(await images.extend(image, atMs));
              await new Promise(requestAnimationFrame);
              // At the longest lifetime the button is gone; the focus stays in the card.
              if (!currentTarget.isConnected) card?.querySelector<HTMLElement>(".deeds button")?.focus();
            }}
          >
            {label}
            <span class="unseen"> for {name}</span>
          </button>
        ))}
      </div>
      {problem !== null && <p class="trouble">Not extended. {problem}</p>}
      <div class="deeds">
        <a class="quiet" href={pageAddress(image)}>
          <OpenIcon /> Open{ofImage}
        </a>
        <button
          type="button"
          class="quiet"
          onClick={() => {
            const field = document.getElementById(nameFieldId(image));
            if (field instanceof HTMLInputElement) field.select();
          }}
        >
          <PenIcon /> Rename{ofImage}
        </button>
        <a class="quiet" href={editAddress(image)} onClick={checkLater} onAuxClick={checkLater}>
          Edit{ofImage}
        </a>
        <button
          type="button"
          class="quiet"
          onClick={({ currentTarget }) => {
            leaveCard(currentTarget.closest(".entry"));
            departing.start([image], "service");
          }}
        >
          <BinIcon /> Delete{ofImage}
        </button>
        {!isUnsaved && (
          <details class="more">
            <summary>
              More<span class="unseen"> for {name}</span>
            </summary>
            <p class="hint">Anyone with the edit link can edit or delete the image.</p>
            {copyButton}
          </details>
        )}
      </div>
    </>
  );
}
