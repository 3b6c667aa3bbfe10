import type { SavedImage } from "../saved/saved-image.ts";
import { reachableBase, readSavedList, savedListKey, writeSavedList } from "../saved/saved-list.ts";

/** Writes the name and expiry that the edit page shows, or the deletion, into this browser's list of uploads. */
export function updateSavedList(): void {
  const form = document.querySelector<HTMLFormElement>(".edit form");
  const listed = form === null ? null : imageOf(form);
  // An image that never expires has no date.
  const expiresAt = document.querySelector<HTMLTimeElement>(".subject time")?.dateTime ?? null;
  const name = document.querySelector(".subject h1")?.textContent;
  if (listed !== null && name) {
    change(listed, (image) => ({ ...image, name, expiresAt }));
  }
  const base = document.querySelector<HTMLElement>("[data-deleted-from]")?.dataset.deletedFrom;
  const [, id] = /([\w-]{22})\/view$/.exec(location.pathname) ?? [];
  if (base !== undefined && id !== undefined)
    change({ base: reachableBase(base, location, `/${id}`), id }, () => null);
}

/** The PIN in this browser's list for the image of the form that asks for it; `undefined` if it has none. */
export function savedPin(form: HTMLFormElement): string | undefined {
  const listed = imageOf(form);
  if (listed === null) return undefined;
  return readSavedList(savedListKey(listed.base)).find(({ id }) => id === listed.id)?.pin || undefined;
}

interface ListedImage {
  base: string;
  id: string;
}

/** The image of an edit or PIN form, by its action. */
function imageOf(form: HTMLFormElement): ListedImage | null {
  const [, base, id] = /^(.*)\/([\w-]{22})\/edit$/.exec(form.getAttribute("action") ?? "") ?? [];
  return base === undefined || id === undefined
    ? null
    : { base: reachableBase(base, location, `/${id}`), id };
}

function change({ base, id }: ListedImage, alter: (image: SavedImage) => SavedImage | null): void {
  const key = savedListKey(base);
  const images = readSavedList(key);
  const altered = images.map((image) => (image.id === id ? alter(image) : image));
  if (JSON.stringify(altered) === JSON.stringify(images)) return;
  writeSavedList(
    key,
    altered.filter((image) => image !== null),
  );
}
