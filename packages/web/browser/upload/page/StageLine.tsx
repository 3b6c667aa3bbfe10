import { sizeText } from "../../../src/phrases.ts";
import { numberText, t } from "../../../src/texts.ts";
import { type Stage, sizeOf, type Upload } from "../store/uploads.ts";

/** The state of an upload that is not stored, as text and as a bar. */
export function StageLine({ upload }: { upload: Upload }) {
  const { stage, name } = upload;
  if (stage.kind === "failed") {
    return (
      <details class="trouble">
        <summary title={stage.message}>{stage.message}</summary>
      </details>
    );
  }
  const size = sizeOf(upload);
  const sentBytes = "sentBytes" in stage ? stage.sentBytes : 0;
  // How long the service takes is unknown.
  const isSent = stage.kind === "processing" || (stage.kind === "sending" && sentBytes >= size);
  return (
    <div class="stage-line">
      <progress
        aria-label={t("uploads.progress", { name })}
        max={size}
        {...(isSent ? {} : { value: sentBytes })}
      />
      <p>{stageText(stage, size)}</p>
    </div>
  );
}

function stageText(stage: Stage, size: number): string {
  if (stage.kind === "queued") return t("uploads.waiting");
  if (stage.kind === "waiting") return t(`uploads.${stage.cause}`);
  if (stage.kind !== "sending") return t("uploads.preparing");
  const { sentBytes } = stage;
  if (sentBytes >= size) return t("uploads.processing");
  const percent = numberText(Math.floor((sentBytes / size) * 100) / 100, { style: "percent" });
  return t("uploads.sent", { sent: sizeText(sentBytes), size: sizeText(size), percent });
}
