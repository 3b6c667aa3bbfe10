import { sizeText } from "../../../src/phrases.ts";
import { t } from "../../../src/texts.ts";
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
  const unsent = failed === 0 ? [] : [t("uploads.headingNot", { count: failed })];
  if (active > 0) {
    const sizes = { sent: sizeText(totals.sentBytes), size: sizeText(totals.wantedBytes) };
    const parts = [t("uploads.headingActive", { done, wanted }), t("uploads.headingBytes", sizes), ...unsent];
    return parts.join(" · ");
  }
  if (ready === 0) return failed === 1 ? t("uploads.headingFailed") : unsent.join();
  const uploaded = t("uploads.headingUploaded", { count: ready });
  if (held > 0) return [uploaded, t("uploads.headingHeld", { count: held }), ...unsent].join(" · ");
  if (failed > 0) return [t("uploads.headingReady", { count: ready }), ...unsent].join(" · ");
  return t("uploads.headingShare", { count: ready });
}

/** The title of the browser's tab. @param title the title of the page itself. */
export function tabTitle({ active, done, wanted, failed }: Totals, title: string): string {
  if (active > 0) return t("uploads.tabActive", { done, wanted, title });
  return failed > 0 ? t("uploads.tabFailed", { count: failed, title }) : title;
}

/** The progress of several uploads, for screen readers. */
export function announcementText({ active, wanted, done, ready, failed }: Totals): string {
  const stored = active > 0 && t("uploads.saidActive", { done, wanted });
  const ended = active === 0 && ready > 0 && t("uploads.saidDone", { count: ready });
  return [stored, ended, failed > 0 && t("uploads.saidNot", { count: failed })].filter(Boolean).join(" ");
}
