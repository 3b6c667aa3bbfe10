import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { SavedImage } from "../../saved/saved-image.ts";
import {
  isGoneForGood,
  readSavedList,
  type SavedChange,
  savedListKey,
  withChange,
  writeSavedList,
} from "../../saved/saved-list.ts";
import { serverNow } from "../../saved/server-clock.ts";

/** Uploads to one service that this browser has saved, newest first. */
export interface SavedImages {
  list: ReadonlySignal<readonly SavedImage[]>;
  /** Adds images, or replaces their saved data. */
  save(...images: readonly SavedImage[]): void;
  /** Changes an image if it is in the list. */
  change(id: string, change: SavedChange): void;
  forget(ids: readonly string[]): void;
  /** Whether the browser failed to save an image, so that only this page has its PIN. */
  isUnsaved(id: string): boolean;
  /** Images that the browser failed to save, and whose PIN the reader has nowhere else. */
  atRisk: ReadonlySignal<readonly SavedImage[]>;
  /** The reader has the edit links of these images elsewhere. */
  markCopied(ids: readonly string[]): void;
}

/** For this long after an image was added, another window can overwrite the list with a version without it. */
const OVERWRITTEN_MS = 5_000;

/** Entries that the service called gone on an earlier visit have been shown as such, and are dropped now. */
export function createSavedImages(baseUrl: string): SavedImages {
  const key = savedListKey(baseUrl);
  const list = signal<readonly SavedImage[]>(readSavedList(key));
  /** Images that this window added lately, and when. */
  const added = new Map<string, { image: SavedImage; atMs: number }>();
  /** Images that the browser did not save. Its storage can be forbidden, or full: the host app shares it. */
  const unsaved = signal<ReadonlySet<string>>(new Set());
  const copied = signal<ReadonlySet<string>>(new Set());
  const atRisk = computed(() =>
    list.value.filter(
      ({ id, leaving, unavailable = "withheld" }) =>
        unsaved.value.has(id) && !copied.value.has(id) && leaving === undefined && unavailable === "withheld",
    ),
  );
  let isKept = true;

  function alter(altered: (images: readonly SavedImage[]) => readonly SavedImage[]): void {
    // Another window may have changed it since.
    list.value = altered(isKept ? readSavedList(key) : list.value);
    isKept = writeSavedList(key, list.value);
    const stored = isKept ? [] : readSavedList(key);
    const lost = isKept ? [] : list.value.filter(({ id }) => !stored.some((image) => image.id === id));
    unsaved.value = new Set(lost.map(({ id }) => id));
  }

  function save(...images: readonly SavedImage[]): void {
    alter((current) => {
      const known = new Set(current.map(({ id }) => id));
      const fresh = images.filter(({ id }) => !known.has(id));
      for (const image of fresh) added.set(image.id, { image, atMs: Date.now() });
      const given = new Map(images.map((image) => [image.id, image]));
      return [...fresh, ...current.map((image) => given.get(image.id) ?? image)];
    });
    askToPersist();
  }

  /** Adds what another window has overwritten, because it had not seen the addition of this one. */
  function restoreOverwritten(): void {
    for (const [id, { atMs }] of added) if (Date.now() - atMs > OVERWRITTEN_MS) added.delete(id);
    const present = new Set(list.value.map(({ id }) => id));
    const lost = [...added.values()].map(({ image }) => image).filter(({ id }) => !present.has(id));
    if (lost.length > 0) save(...lost);
  }

  addEventListener("storage", (event) => {
    if (event.key !== key && event.key !== null) return;
    list.value = [...list.value.filter(({ id }) => unsaved.value.has(id)), ...readSavedList(key)];
    restoreOverwritten();
  });

  const nowMs = serverNow();
  if (list.value.some((image) => isGoneForGood(image, nowMs))) {
    alter((images) => images.filter((image) => !isGoneForGood(image, nowMs)));
  }

  return {
    list,
    save,
    change: (id, change) => alter((images) => withChange(images, id, change)),
    forget(ids) {
      for (const id of ids) added.delete(id);
      alter((images) => images.filter(({ id }) => !ids.includes(id)));
    },
    isUnsaved: (id) => unsaved.value.has(id),
    atRisk,
    markCopied(ids) {
      copied.value = new Set([...copied.value, ...ids]);
    },
  };
}

let hasAsked = false;

/** Asks the browser, once a visit, to keep the list: some drop it after days without a visit. */
function askToPersist(): void {
  if (hasAsked || !("storage" in navigator)) return;
  hasAsked = true;
  // Refused, or forbidden: the list lasts as long as the browser likes.
  navigator.storage.persist?.().catch(() => undefined);
}
