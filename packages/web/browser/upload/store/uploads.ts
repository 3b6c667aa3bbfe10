import type { SavedImage } from "./saved-image.ts";

/** Where an upload stands. */
export type Stage =
  | { kind: "queued" }
  | { kind: "sending"; sentBytes: number }
  /** It goes on by itself: at `untilMs` (Unix milliseconds), or when the browser is online. */
  | { kind: "waiting"; cause: "busy" | "broken" | "offline"; untilMs: number | null }
  /** It is stored, and cannot be served yet. */
  | { kind: "processing" }
  | { kind: "ready" }
  | { kind: "failed"; message: string; canRetry: boolean };

/** A file that was chosen on this page, and what became of it. */
export interface Upload {
  key: string;
  /** Files that were added together have the same. */
  batch: number;
  /** As the person wants it. */
  name: string;
  size: number;
  /** What kind of file it is, e.g. `PNG`; `null` for an unknown one. */
  label: string | null;
  /** A small picture of it in this browser; `null` where there is none (yet). */
  previewUrl: string | null;
  stage: Stage;
  /** `null` until it is stored. */
  image: SavedImage | null;
}

export type UploadEvent =
  | { kind: "added"; upload: Upload }
  | { kind: "staged"; key: string; stage: Stage }
  | { kind: "previewed"; key: string; previewUrl: string }
  | { kind: "named"; key: string; name: string }
  | { kind: "stored"; key: string; image: SavedImage }
  /** Something else is known of an image, wherever it is shown. */
  | { kind: "updated"; image: SavedImage }
  | { kind: "removed"; key: string };

/** The list after an event, the newest batch first. Events of uploads that are gone change nothing. */
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
      // What failed after it was stored is stored no more.
      return { ...upload, stage: event.stage, image: event.stage.kind === "failed" ? null : upload.image };
    case "previewed":
      return { ...upload, previewUrl: event.previewUrl };
    case "named":
      return { ...upload, name: event.name };
    case "stored":
      return { ...upload, image: event.image, stage: { kind: "processing" } };
  }
}

/** Whether leaving the page would lose it. */
export function isUnfinished({ stage }: Upload): boolean {
  return stage.kind === "queued" || stage.kind === "sending" || stage.kind === "waiting";
}
