import { type ReadonlySignal, signal } from "@preact/signals";
import type { SavedImage } from "../../saved/saved-image.ts";
import {
  isGoneForGood,
  readSavedList,
  type SavedChange,
  savedListKey,
  withChange,
  writeSavedList,
} from "../../saved/saved-list.ts";

/** Uploads to one service that this browser has saved, newest first. */
export interface SavedImages {
  list: ReadonlySignal<readonly SavedImage[]>;
  /** Adds images, or replaces their saved data. */
  save(...images: readonly SavedImage[]): void;
  /** Changes an image if it is in the list. */
  change(id: string, change: SavedChange): void;
  forget(ids: readonly string[]): void;
}

/** For this long after an image was added, another window can overwrite the list with a version without it. */
const OVERWRITTEN_MS = 5_000;

/** Entries that the service called gone on an earlier visit have been shown as such, and are dropped now. */
export function createSavedImages(baseUrl: string): SavedImages {
  const key = savedListKey(baseUrl);
  const list = signal<readonly SavedImage[]>(readSavedList(key));
  /** Images that this window added lately, and when. */
  const added = new Map<string, { image: SavedImage; atMs: number }>();
  let isKept = true;

  function alter(altered: (images: readonly SavedImage[]) => readonly SavedImage[]): void {
    // Another window may have changed it since.
    list.value = altered(isKept ? readSavedList(key) : list.value);
    isKept = writeSavedList(key, list.value);
  }

  function save(...images: readonly SavedImage[]): void {
    alter((current) => {
      const known = new Set(current.map(({ id }) => id));
      const fresh = images.filter(({ id }) => !known.has(id));
      for (const image of fresh) added.set(image.id, { image, atMs: Date.now() });
      const given = new Map(images.map((image) => [image.id, image]));
      return [...fresh, ...current.map((image) => given.get(image.id) ?? image)];
    });
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
    list.value = readSavedList(key);
    restoreOverwritten();
  });

  const nowMs = Date.now();
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
  };
}
