import { computed, signal } from "@preact/signals";
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

/** For this long after an image was added, another window can overwrite the list with a version without it. */
const OVERWRITTEN_MS = 5_000;

/** Uploads to one service that this browser has saved, newest first. */
export class SavedImages {
  readonly list = signal<readonly SavedImage[]>([]);
  /** Images that the browser failed to save, and whose PIN the reader has nowhere else. */
  readonly atRisk = computed(() =>
    this.list.value.filter(
      ({ id, pin, unavailable = "withheld" }) =>
        pin !== "" &&
        this.#unsaved.value.has(id) &&
        !this.#copied.value.has(id) &&
        unavailable === "withheld",
    ),
  );
  readonly #key: string;
  /** Images that this window added lately, and when. */
  readonly #added = new Map<string, { image: SavedImage; atMs: number }>();
  /** Images that the browser did not save. Its storage can be forbidden, or full: the host app shares it. */
  readonly #unsaved = signal<ReadonlySet<string>>(new Set());
  readonly #copied = signal<ReadonlySet<string>>(new Set());
  #isKept = true;
  #hasAskedToPersist = false;

  /** Entries that the service called gone on an earlier visit have been shown as such, and are dropped now. */
  constructor(baseUrl: string) {
    this.#key = savedListKey(baseUrl);
    this.list.value = readSavedList(this.#key);
    addEventListener("storage", ({ key }) => {
      if (key === this.#key || key === null) this.#readAgain();
    });
    const nowMs = serverNow();
    if (this.list.value.some((image) => isGoneForGood(image, nowMs))) {
      this.#alter((images) => images.filter((image) => !isGoneForGood(image, nowMs)));
    }
  }

  /** Adds images, or replaces their saved data. */
  save(...images: readonly SavedImage[]): void {
    this.#alter((current) => {
      const known = new Set(current.map(({ id }) => id));
      const fresh = images.filter(({ id }) => !known.has(id));
      for (const image of fresh) this.#added.set(image.id, { image, atMs: Date.now() });
      const given = new Map(images.map((image) => [image.id, image]));
      return [...fresh, ...current.map((image) => given.get(image.id) ?? image)];
    });
    this.#askToPersist();
  }

  /** Changes an image if it is in the list. */
  change(id: string, change: SavedChange): void {
    this.#alter((images) => withChange(images, id, change));
  }

  forget(ids: readonly string[]): void {
    for (const id of ids) this.#added.delete(id);
    this.#alter((images) => images.filter(({ id }) => !ids.includes(id)));
  }

  /** The reader has the edit links of the images at risk elsewhere. */
  markCopied(): void {
    this.#copied.value = new Set([...this.#copied.value, ...this.#unsaved.value]);
  }

  #alter(altered: (images: readonly SavedImage[]) => readonly SavedImage[]): void {
    // Another window may have changed it since.
    const list = altered(this.#isKept ? readSavedList(this.#key) : this.list.value);
    this.#isKept = writeSavedList(this.#key, list);
    const stored = this.#isKept ? list : readSavedList(this.#key);
    const lost = list.filter(({ id }) => !stored.some((image) => image.id === id));
    this.#unsaved.value = new Set(lost.map(({ id }) => id));
    this.list.value = list;
  }

  /** Follows a change of another window, and adds again what it has overwritten because it had not seen it. */
  #readAgain(): void {
    const unsaved = this.list.value.filter(({ id }) => this.#unsaved.value.has(id));
    this.list.value = [...unsaved, ...readSavedList(this.#key)];
    for (const [id, { atMs }] of this.#added) if (Date.now() - atMs > OVERWRITTEN_MS) this.#added.delete(id);
    const present = new Set(this.list.value.map(({ id }) => id));
    const lost = [...this.#added.values()].map(({ image }) => image).filter(({ id }) => !present.has(id));
    if (lost.length > 0) this.save(...lost);
  }

  /** Asks the browser, once a visit, to keep the list: some drop it after days without a visit. */
  #askToPersist(): void {
    if (this.#hasAskedToPersist || !("storage" in navigator)) return;
    this.#hasAskedToPersist = true;
    // Refused, or forbidden: the list lasts as long as the browser likes.
    navigator.storage.persist?.().catch(() => undefined);
  }
}
