import { sizeText } from "../../../src/phrases.ts";
import { everySecond } from "../store/clock.ts";
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
      <progress aria-label={`Upload of ${name}`} max={size} {...(isSent ? {} : { value: sentBytes })} />
      <p>{stageText(stage, size)}</p>
    </div>
  );
}

function stageText(stage: Stage, size: number): string {
  if (stage.kind === "queued") return "Waiting…";
  if (stage.kind === "waiting") return waitText(stage);
  if (stage.kind !== "sending") return "Uploaded. Preparing the preview…";
  const { sentBytes } = stage;
  if (sentBytes >= size) return "Processing…";
  return `${sizeText(sentBytes)} of ${sizeText(size)} · ${Math.floor((sentBytes / size) * 100)} %`;
}

function waitText({ cause, untilMs }: Extract<Stage, { kind: "waiting" }>): string {
  if (cause === "offline") return "You’re offline. The upload will resume when you reconnect.";
  const leftMs = (untilMs ?? 0) - everySecond.value;
  const when = leftMs > 500 ? `in ${waitedText(leftMs)}` : "now";
  return cause === "busy"
    ? `The server asked to wait. Continuing ${when}.`
    : `Connection lost. Retrying ${when}.`;
}

function waitedText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`;
}
