import { sizeText } from "../../../src/phrases.ts";
import { everySecond } from "../store/clock.ts";
import { type Stage, sizeOf, type Upload } from "../store/uploads.ts";

/** The state of an upload, as text and as a bar. */
export function StageLine({ upload }: { upload: Upload }) {
  const { stage, name } = upload;
  const size = sizeOf(upload);
  switch (stage.kind) {
    case "ready":
      return null;
    case "failed":
      return <p class="trouble">{stage.message}</p>;
    case "queued":
      return <Bar name={name} text="Waiting…" sentBytes={0} size={size} />;
    case "waiting":
      return <Bar name={name} text={waitText(stage)} sentBytes={0} size={size} />;
    case "processing":
      return <Bar name={name} text="Uploaded. Preparing the preview…" sentBytes={null} size={size} />;
    case "sending": {
      const isAllSent = stage.sentBytes >= size;
      const text = isAllSent ? "Processing…" : progressText(stage.sentBytes, size);
      return <Bar name={name} text={text} sentBytes={isAllSent ? null : stage.sentBytes} size={size} />;
    }
  }
}

interface BarProps {
  name: string;
  text: string;
  /** `null` when the progress is unknown. */
  sentBytes: number | null;
  size: number;
}

function Bar({ name, text, sentBytes, size }: BarProps) {
  return (
    <div class="stage-line">
      {sentBytes === null ? (
        <progress aria-label={`Upload of ${name}`} />
      ) : (
        <progress aria-label={`Upload of ${name}`} value={sentBytes} max={size} />
      )}
      <p>{text}</p>
    </div>
  );
}

function progressText(sentBytes: number, size: number): string {
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
