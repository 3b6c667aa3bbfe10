import { expiryMs, readSaved, type SavedImage } from "./saved-image.ts";

/** The origin of the page, and the path of the mount point on it. */
export type PagePlace = Pick<Location, "origin" | "pathname">;

/**
 * The mount point as this page can reach it, without a trailing slash. If the host was reached under another name, the
 * page must use that name too.
 *
 * @param below Start of the path below the mount point. Empty: the page is the mount point.
 */
export function reachableBase(base: string, { origin, pathname }: PagePlace, below = ""): string {
  const isHere = URL.canParse(base) && new URL(base).origin === origin;
  const mount = below === "" ? pathname : pathname.slice(0, Math.max(0, pathname.lastIndexOf(below)));
  return (isHere ? base : origin + mount).replace(/\/+$/, "");
}

/**
 * Key of the list in `localStorage`. Each service has its own, since several services can share an origin.
 *
 * @param baseUrl of the mount point, as the page reaches it, without a trailing slash
 */
export function savedListKey(baseUrl: string): string {
  return `outrigger uploads ${baseUrl}`;
}

/** The images that this browser saved under a key, newest first. */
export function readSavedList(key: string): SavedImage[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(value) ? value.map(readSaved).filter((image) => image !== null) : [];
  } catch {
    // The browser forbids storage, or another program wrote the value: the list is empty.
    return [];
  }
}

/** @returns whether the list was saved; if not, it lasts as long as the page. */
export function writeSavedList(key: string, images: readonly SavedImage[]): boolean {
  try {
    if (images.length === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(images));
    return true;
  } catch {
    // Forbidden or full.
    return false;
  }
}

/** The changes of an entry: a field that is `undefined` is removed. */
export type SavedChange = { [Field in keyof Omit<SavedImage, "id">]?: SavedImage[Field] | undefined };

/** The list with one entry changed; the same entries if the image is not in it. */
export function withChange(
  images: readonly SavedImage[],
  id: string,
  change: SavedChange,
): readonly SavedImage[] {
  return images.map((image) => (image.id === id ? changedImage(image, change) : image));
}

export function changedImage(image: SavedImage, change: SavedChange): SavedImage {
  // The required fields are whole before and after: `readSaved` drops the optional ones that are undefined.
  return readSaved({ ...image, ...change }) ?? image;
}

/**
 * Whether the service said that the image is gone for good, so that its PIN is of no more use. A missing record counts
 * only after the expiry that was last known: deleted images keep a record for some time.
 */
export function isGoneForGood({ unavailable, expiresAt }: SavedImage, nowMs: number): boolean {
  if (unavailable === "missing") return expiryMs(expiresAt) <= nowMs;
  return unavailable === "deleted" || unavailable === "expired";
}
