import type { TargetedEvent } from "preact";
import { typesText } from "../../../src/formats.ts";
import { sizeText } from "../../../src/phrases.ts";
import { t } from "../../../src/texts.ts";
import type { UploadConfig } from "../config.ts";
import { acceptedFiles } from "../file-kinds.ts";
import { PictureIcon } from "./icons.tsx";

/** ID of the file input, which gets the focus back. */
export const CHOOSER_ID = "chooser";

export interface DropAreaProps {
  onFiles(files: readonly File[]): void;
  limits: Pick<UploadConfig, "maxUploadBytes" | "types">;
  /** Whether the page takes one file only. */
  isSingle: boolean;
  /** Whether the area is small, to leave room for the list of uploads. */
  isCompact: boolean;
}

/** The area to choose files by click, and on touch screens a button for the camera. Drops and pastes work anywhere on the page. */
export function DropArea({ onFiles, limits, isSingle, isCompact }: DropAreaProps) {
  function choose({ currentTarget }: TargetedEvent<HTMLInputElement>): void {
    const files = [...(currentTarget.files ?? [])];
    // Otherwise the same file could not be chosen twice.
    currentTarget.value = "";
    if (files.length > 0) onFiles(files);
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
          accept={acceptedFiles(limits.types)}
          aria-label={t("uploads.choose")}
          aria-describedby="accepted"
          onChange={choose}
        />
        <span class="button main" aria-hidden="true">
          {t("uploads.choose")}
        </span>
        <span id="accepted" class="accepted">
          {t(isSingle ? "uploads.acceptedOne" : "uploads.accepted", {
            types: typesText(limits.types),
            size: sizeText(limits.maxUploadBytes),
          })}
        </span>
      </label>
      {limits.types.includes("image/jpeg") && (
        <label class="camera button main plain">
          <input class="unseen" type="file" accept="image/*" capture="environment" onChange={choose} />
          {t("uploads.camera")}
        </label>
      )}
    </>
  );
}
