import type { SavedImage } from "./saved-image.ts";

/** The state of an upload. */
export type Stage =
  | { kind: "queued" }
  | { kind: "sending"; sentBytes: number }
  /** Resumes automatically, at `untilMs` (Unix milliseconds) or when the browser is online. */
  | { kind: "waiting"; cause: "busy" | "broken" | "offline"; untilMs: number | null }
  /** Stored, but cannot be served yet. */
  | { kind: "processing" }
  | { kind: "ready" }
  | { kind: "failed"; message: string; canRetry: boolean };

/** A file added on this page, and its state. */
export interface Upload {
  key: string;
  /** Files added together have the same number. */
  batch: number;
  /** The name that the user wants. */
  name: string;
  size: number;
  /** The kind of file, e.g. `PNG`; `null` when unknown. */
  label: string | null;
  /** Object URL of a thumbnail in this browser; `null` when there is none (yet). */
  previewUrl: string | null;
  stage: Stage;
  /** `null` until the image is stored. */
  image: SavedImage | null;
}

export type UploadEvent =
  | { kind: "added"; upload: Upload }
  | { kind: "staged"; key: string; stage: Stage }
  | { kind: "previewed"; key: string; previewUrl: string }
  | { kind: "named"; key: string; name: string }
  | { kind: "stored"; key: string; image: SavedImage }
  /** The data of an image changed. */
  | { kind: "updated"; image: SavedImage }
  | { kind: "removed"; key: string };

/** The list after an event, newest batch first. Events of removed uploads change nothing. */
export function reduceUploads(uploads: readonly Upload[], event: UploadEvent): readonly Upload[] {
  switch (event.kind) {
    case "added": {
      const earlier = uploads.filter(({ batch }) => batch !== event.upload.batch);
      const together = uploads.filter(({ batch }) => batch === event.upload.batch);
      return [...together, event.upload, ...earlier];
    }
    case "removed":
      return uploads.filter(({ key }) => key !== event.key);
    case "updated":
      return uploads.map((upload) =>
        upload.image?.id === event.image.id
          ? { ...upload, image: event.image, name: event.image.name }
          : upload,
      );
    default:
      return uploads.map((upload) => (upload.key === event.key ? changed(upload, event) : upload));
  }
}

type OwnEvent = Exclude<UploadEvent, { kind: "added" | "removed" | "updated" }>;

function changed(upload: Upload, event: OwnEvent): Upload {
  switch (event.kind) {
    case "staged":
      // An image whose processing failed is no longer stored.
      return { ...upload, stage: event.stage, image: event.stage.kind === "failed" ? null : upload.image };
    case "previewed":
      return { ...upload, previewUrl: event.previewUrl };
    case "named":
      return { ...upload, name: event.name };
    case "stored":
      return { ...upload, image: event.image, stage: { kind: "processing" } };
  }
}

/** Whether leaving the page would lose the upload. */
export function isUnfinished({ stage }: Upload): boolean {
  return stage.kind === "queued" || stage.kind === "sending" || stage.kind === "waiting";
}
