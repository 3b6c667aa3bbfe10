import { sizeText } from "../../../src/phrases.ts";
import { isActive, sizeOf, type Upload } from "./uploads.ts";

/** Sums over the uploads of this visit. */
export interface Totals {
  /** Uploads that have not ended. */
  active: number;
  /** Uploads of the batches that are still active, without failed ones. */
  wanted: number;
  /** How many of `wanted` are ready. */
  done: number;
  /** Size of `wanted`, bytes. */
  wantedBytes: number;
  /** How much of `wantedBytes` was sent. */
  sentBytes: number;
  /** Ready images of all batches. */
  ready: number;
  /** Those of them that wait for review. */
  held: number;
  /** Failed uploads of all batches. */
  failed: number;
}

export function totalsOf(uploads: readonly Upload[]): Totals {
  const active = uploads.filter(isActive);
  const firstBatch = active.reduce((first, { batch }) => Math.min(first, batch), Number.POSITIVE_INFINITY);
  const wanted = uploads.filter(({ stage, batch }) => stage.kind !== "failed" && batch >= firstBatch);
  return {
    active: active.length,
    wanted: wanted.length,
    done: wanted.filter(({ stage }) => stage.kind === "ready").length,
    wantedBytes: wanted.reduce((sum, upload) => sum + sizeOf(upload), 0),
    sentBytes: wanted.reduce((sum, upload) => sum + sentOf(upload), 0),
    ready: uploads.filter(({ stage }) => stage.kind === "ready").length,
    held: uploads.filter(({ stage }) => stage.kind === "ready" && stage.isHeld).length,
    failed: uploads.filter(({ stage }) => stage.kind === "failed").length,
  };
}

function sentOf(upload: Upload): number {
  const { stage } = upload;
  // A request has some bytes more than its file.
  if ("sentBytes" in stage) return Math.min(stage.sentBytes, sizeOf(upload));
  return stage.kind === "processing" || stage.kind === "ready" ? sizeOf(upload) : 0;
}

/** The heading above the uploads. */
export function headingText(totals: Totals): string {
  const { active, wanted, done, ready, held, failed } = totals;
  const unsent = failed === 0 ? [] : [`${failed} not uploaded`];
  if (active > 0) {
    const sizes = `${sizeText(totals.sentBytes)} of ${sizeText(totals.wantedBytes)}`;
    return [`Uploading: ${done} of ${wanted}`, sizes, ...unsent].join(" · ");
  }
  if (ready === 0) return failed === 1 ? "Upload failed" : `${failed} not uploaded`;
  if (held > 0) return [`${ready} uploaded`, `${held} waiting for review`, ...unsent].join(" · ");
  if (failed > 0) return `${ready} ready · ${failed} not uploaded`;
  return ready === 1 ? "Your image is ready to share" : `${ready} images are ready to share`;
}

/** The title of the browser's tab. @param plain the title of the page itself. */
export function tabTitle({ active, done, wanted, failed }: Totals, plain: string): string {
  if (active > 0) return `(${done}/${wanted}) Uploading – ${plain}`;
  return failed > 0 ? `(${failed} failed) ${plain}` : plain;
}

/** The progress of several uploads, for screen readers. */
export function announcementText({ active, wanted, done, ready, failed }: Totals): string {
  const stored = active > 0 ? [`${done} of ${wanted} uploaded.`] : ready > 0 ? [`${ready} uploaded.`] : [];
  return [...stored, ...(failed > 0 ? [`${failed} not uploaded.`] : [])].join(" ");
}
