import { sizeText } from "../../../src/phrases.ts";
import type { Upload } from "./uploads.ts";

/** Sums over the uploads of this visit. */
export interface Totals {
  /** Uploads that have not ended. */
  active: number;
  /** Uploads of the batches that are still active, without failed ones and files uploaded before. */
  wanted: number;
  /** How many of `wanted` are ready. */
  done: number;
  /** Size of `wanted`, bytes. */
  wantedBytes: number;
  /** How much of `wantedBytes` was sent. */
  sentBytes: number;
  /** Ready images of all batches. */
  ready: number;
  /** Failed uploads of all batches. */
  failed: number;
}

/** Whether an upload has not ended. */
export function isActive({ stage }: Upload): boolean {
  return stage.kind !== "ready" && stage.kind !== "failed" && stage.kind !== "known";
}

export function totalsOf(uploads: readonly Upload[]): Totals {
  const active = uploads.filter(isActive);
  const firstBatch = active.reduce((first, { batch }) => Math.min(first, batch), Number.POSITIVE_INFINITY);
  const wanted = uploads.filter((upload) => {
    const isCounted = isActive(upload) || upload.stage.kind === "ready";
    return isCounted && upload.batch >= firstBatch;
  });
  return {
    active: active.length,
    wanted: wanted.length,
    done: wanted.filter(({ stage }) => stage.kind === "ready").length,
    wantedBytes: wanted.reduce((sum, { size }) => sum + size, 0),
    sentBytes: wanted.reduce((sum, upload) => sum + sentOf(upload), 0),
    ready: uploads.filter(({ stage }) => stage.kind === "ready").length,
    failed: uploads.filter(({ stage }) => stage.kind === "failed").length,
  };
}

function sentOf({ stage, size }: Upload): number {
  // A request has some bytes more than its file.
  if (stage.kind === "sending") return Math.min(stage.sentBytes, size);
  return stage.kind === "processing" || stage.kind === "ready" ? size : 0;
}

/** The heading above the uploads. @param leftMs estimated time left; `null` when unknown. */
export function headingText(totals: Totals, leftMs: number | null): string {
  const { active, wanted, done, ready, failed } = totals;
  const unsent = failed === 0 ? [] : [`${failed} not uploaded`];
  if (active > 0) {
    const sizes = `${sizeText(totals.sentBytes)} of ${sizeText(totals.wantedBytes)}`;
    const left = leftMs === null ? [] : [`${durationText(leftMs)} left`];
    return [`Uploading: ${done} of ${wanted}`, sizes, ...left, ...unsent].join(" · ");
  }
  if (ready === 0 && failed === 0) return "Already uploaded";
  if (ready === 0) return failed === 1 ? "Upload failed" : `${failed} not uploaded`;
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

const MINUTE_MS = 60_000;

/** A duration, rounded up: `40 s`, `3 min`, `1 h 5 min`. */
function durationText(ms: number): string {
  if (ms <= 90_000) return `${Math.max(1, Math.ceil(ms / 1000))} s`;
  const minutes = Math.ceil(ms / MINUTE_MS);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? "" : ` ${minutes % 60} min`}`;
}
