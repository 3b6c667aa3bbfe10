import { type ReadonlySignal, signal } from "@preact/signals";
import { readSaved, type SavedImage } from "./saved-image.ts";

/** Uploads to one service that this browser has saved, newest first. */
export interface SavedImages {
  list: ReadonlySignal<readonly SavedImage[]>;
  /** Adds an image, or replaces its saved data. */
  save(image: SavedImage): void;
  forget(id: string): void;
  forgetAll(): void;
  dropExpired(): void;
}

/** Each service has its own storage key, since several services can share an origin. */
export function createSavedImages(baseUrl: string): SavedImages {
  const key = `outrigger uploads ${baseUrl}`;
  const list = signal<readonly SavedImage[]>(readList(key).filter(isAlive));
  let isKept = true;

  function change(alter: (images: readonly SavedImage[]) => readonly SavedImage[]): void {
    // Another window may have changed it since.
    const current = isKept ? readList(key) : list.value;
    list.value = alter(current).filter(isAlive);
    isKept = writeList(key, list.value);
  }

  addEventListener("storage", (event) => {
    if (event.key === key || event.key === null) list.value = readList(key).filter(isAlive);
  });

  return {
    list,
    save: (image) =>
      change((images) =>
        images.some(({ id }) => id === image.id)
          ? images.map((other) => (other.id === image.id ? image : other))
          : [image, ...images],
      ),
    forget: (id) => change((images) => images.filter((image) => image.id !== id)),
    forgetAll: () => change(() => []),
    dropExpired() {
      if (!list.value.every(isAlive)) change((images) => images);
    },
  };
}

function isAlive({ expiresAt }: SavedImage): boolean {
  return Date.parse(expiresAt) > Date.now();
}

function readList(key: string): SavedImage[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(value) ? value.map(readSaved).filter((image) => image !== null) : [];
  } catch {
    // The browser forbids storage, or another program wrote the value: the list is empty.
    return [];
  }
}

/** @returns whether the list was saved; if not, it lasts as long as the page. */
function writeList(key: string, images: readonly SavedImage[]): boolean {
  try {
    if (images.length === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(images));
    return true;
  } catch {
    // Forbidden or full.
    return false;
  }
}
