import type { SavedImage } from "../../saved/saved-image.ts";

/** The state of an upload. */
export type Stage =
  | { kind: "queued" }
  | { kind: "sending"; sentBytes: number }
  /** Resumes automatically, at `untilMs` (Unix milliseconds) or when the browser is online. */
  | { kind: "waiting"; cause: "busy" | "broken" | "offline"; untilMs: number | null }
  /** Stored, but cannot be served yet. */
  | { kind: "processing" }
  | { kind: "ready" }
  /** Not sent: this browser has uploaded the same file before. */
  | { kind: "known"; image: SavedImage }
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
  /** What was done to the file before the upload; `null` when nothing was. */
  note: string | null;
  /** Object URL of a thumbnail in this browser; `null` when there is none (yet). */
  previewUrl: string | null;
  stage: Stage;
  /** `null` until the image is stored. */
  image: SavedImage | null;
}

export type UploadEvent =
  | { kind: "added"; upload: Upload }
  | { kind: "staged"; key: string; stage: Stage }
  /** Another file is sent instead of the chosen one. */
  | { kind: "converted"; key: string; file: Pick<Upload, "name" | "size" | "label" | "note"> }
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
    case "converted":
      return { ...upload, ...event.file };
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

/** Whether the upload failed and may succeed when it is sent again. */
export function canRetry({ stage }: Upload): boolean {
  return stage.kind === "failed" && stage.canRetry;
}

/** The list with failed uploads at its start, else in its order. */
export function failuresFirst(uploads: readonly Upload[]): readonly Upload[] {
  const isFailed = ({ stage }: Upload) => stage.kind === "failed";
  return [...uploads.filter(isFailed), ...uploads.filter((upload) => !isFailed(upload))];
}

/** Whether nothing more can come of it: the upload failed, was not needed, or its image is unavailable. */
export function isOver({ stage, image }: Upload): boolean {
  return stage.kind === "failed" || stage.kind === "known" || image?.unavailable !== undefined;
}
