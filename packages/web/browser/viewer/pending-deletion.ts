import type { EditOutcome, ImageEdits } from "../saved/image-edits.ts";

/** Milliseconds until a deletion is sent. */
const UNDO_MS = 8000;

/** The deletion that is not sent yet. A page shows one image, so there is at most one. */
let pending: { timer: number; edits: ImageEdits; onLeaving(): void } | null = null;
let isSentOnLeaving = false;

export interface DeletionEvents {
  /** The request is on its way and can no longer be cancelled. */
  onSent(): void;
  /** The page is left, and the request sent; its reply is not seen. */
  onLeaving(): void;
  onSettled(outcome: EditOutcome): void;
}

/** Deletes an image after 8 seconds. Leaving the page sends the request at once. */
export function startDeletion(edits: ImageEdits, { onSent, onLeaving, onSettled }: DeletionEvents): void {
  const timer = window.setTimeout(async () => {
    pending = null;
    onSent();
    onSettled(await edits.remove());
  }, UNDO_MS);
  pending = { timer, edits, onLeaving };
}

export function cancelDeletion(): void {
  window.clearTimeout(pending?.timer);
  pending = null;
}

export function isDeletionPending(): boolean {
  return pending !== null;
}

window.addEventListener("pagehide", () => {
  if (pending === null) return;
  pending.onLeaving();
  void pending.edits.remove();
  isSentOnLeaving = true;
  cancelDeletion();
});

// The Back button can show the page as it was left.
window.addEventListener("pageshow", () => {
  if (isSentOnLeaving) location.reload();
});
