import type { SavedImage } from "../../saved/saved-image.ts";
import { kindOf, labelOf } from "../file-kinds.ts";
import type { Lifetime } from "./next-options.ts";

/** The state of an upload. */
export type Stage =
  | { kind: "queued" }
  | { kind: "sending"; sentBytes: number }
  /** Resumes automatically. */
  | { kind: "waiting"; cause: "busy" | "broken" | "offline"; sentBytes: number }
  /** Stored, but cannot be served yet. */
  | { kind: "processing" }
  /** `isHeld`: the image is served once the host accepts it. */
  | { kind: "ready"; isHeld?: boolean }
  | { kind: "failed"; message: string; canRetry: boolean; status?: number };

/** A file that the user chose, with what is sent. */
export interface ChosenUpload {
  file: File;
  /** Media type to send. */
  type: string;
  name: string;
  lifetime: Lifetime;
  /** Absent: it is sent without. */
  ticket?: string | undefined;
  /** When it was chosen, Unix milliseconds; a fraction less for each file after the first of a batch. */
  at: number;
}

/** An entry of the page: a file added on this visit, or an image of an earlier one. */
export interface Upload {
  key: string;
  /** Files added together have the same number. */
  batch: number;
  name: string;
  /** The kind of file, e.g. `PNG`; `null` when unknown. */
  label: string | null;
  /** `null`: the image is of an earlier visit. */
  chosen: ChosenUpload | null;
  /** Object URL of a thumbnail in this browser; `null` when there is none (yet). */
  previewUrl: string | null;
  stage: Stage;
  /** What the image lacks of the file, in words; `null`: nothing, or unknown. */
  loss: string | null;
  /** `null` until the image is stored. */
  image: SavedImage | null;
}

/** The uploads with the present data of their images. Where an image has left the list, its upload leaves too. */
export function withSaved(uploads: readonly Upload[], saved: readonly SavedImage[]): readonly Upload[] {
  const images = new Map(saved.map((image) => [image.id, image]));
  return uploads.flatMap((upload) => {
    if (upload.image === null) return [upload];
    const image = images.get(upload.image.id);
    return image === undefined ? [] : [{ ...upload, image, name: image.name }];
  });
}

const EARLIER = { batch: 0, chosen: null, previewUrl: null, loss: null };

/** An image of an earlier visit, as an entry of the page. */
export function earlierUpload(image: SavedImage): Upload {
  return {
    ...EARLIER,
    key: image.id,
    name: image.name,
    label: labelOf(kindOf({ name: "", type: image.type })),
    stage: { kind: "ready" },
    image,
  };
}

/** Bytes of the chosen file; 0 for an image of an earlier visit. */
export function sizeOf({ chosen }: Upload): number {
  return chosen?.file.size ?? 0;
}

/** Whether an upload has not ended. */
export function isActive({ stage }: Upload): boolean {
  return stage.kind !== "ready" && stage.kind !== "failed";
}

/** Whether leaving the page would lose the upload. */
export function isUnfinished({ stage }: Upload): boolean {
  return stage.kind === "queued" || stage.kind === "sending" || stage.kind === "waiting";
}

/** Whether the upload failed and may succeed when it is sent again. */
export function canRetry({ stage }: Upload): boolean {
  return stage.kind === "failed" && stage.canRetry;
}

/** The image that the service serves; `null` before and after that. */
export function servedImage({ stage, image }: Upload): SavedImage | null {
  return stage.kind === "ready" && image?.unavailable === undefined ? image : null;
}

/** The list with failed uploads at its start, else in its order. */
export function failuresFirst(uploads: readonly Upload[]): readonly Upload[] {
  const isFailed = ({ stage }: Upload) => stage.kind === "failed";
  return [...uploads.filter(isFailed), ...uploads.filter((upload) => !isFailed(upload))];
}
