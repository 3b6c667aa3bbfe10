import type { TargetedEvent } from "preact";
import { typesText } from "../../../src/formats.ts";
import { sizeText } from "../../../src/phrases.ts";
import { t } from "../../../src/texts.ts";
import { acceptedFiles } from "../file-kinds.ts";
import type { Session } from "../session.ts";
import { PictureIcon } from "./icons.tsx";

/** ID of the file input, which gets the focus back. */
export const CHOOSER_ID = "chooser";

/** The area to choose files by click, and on touch screens a button for the camera. Drops and pastes work anywhere on the page. */
export function DropArea({ session }: { session: Session }) {
  const { types, maxUploadBytes } = session.ticket.limits.value;
  const isSingle = session.ticket.state.value.text !== undefined;
  // It leaves room for the list of uploads.
  const isCompact = session.uploads.value.length > 0;
  function choose({ currentTarget }: TargetedEvent<HTMLInputElement>): void {
    const files = [...(currentTarget.files ?? [])];
    // Otherwise the same file could not be chosen twice.
    currentTarget.value = "";
    void session.add(files);
  }
  return (
    <>
      <label class={isCompact ? "drop-area compact" : "drop-area"} for={CHOOSER_ID}>
        <PictureIcon />
        <span class="invitation">{t("uploads.drop")}</span>
        <span class="invitation touch">{t("uploads.photo")}</span>
        <input
          id={CHOOSER_ID}
          class="unseen"
          type="file"
          multiple={!isSingle}
          accept={acceptedFiles(types)}
          aria-label={t("uploads.choose")}
          aria-describedby="accepted"
          onChange={choose}
        />
        <span class="button main" aria-hidden="true">
          {t("uploads.choose")}
        </span>
        <span id="accepted" class="accepted">
          {t(isSingle ? "uploads.acceptedOne" : "uploads.accepted", {
            types: typesText(types),
            size: sizeText(maxUploadBytes),
          })}
        </span>
      </label>
      {types.includes("image/jpeg") && (
        <label class="camera button main plain">
          <input class="unseen" type="file" accept="image/*" capture="environment" onChange={choose} />
          {t("uploads.camera")}
        </label>
      )}
    </>
  );
}
