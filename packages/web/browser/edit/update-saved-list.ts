import type { SavedImage } from "../saved/saved-image.ts";
import { readSavedList, savedListKey, writeSavedList } from "../saved/saved-list.ts";

/** Writes the name and expiry that the edit page shows, or the deletion, into this browser's list of uploads. */
export function updateSavedList(): void {
  const form = document.querySelector<HTMLFormElement>(".edit form");
  const place = form === null ? null : placeOf(form);
  // An image that never expires has no date.
  const expiresAt = document.querySelector<HTMLTimeElement>(".subject time")?.dateTime ?? null;
  const name = document.querySelector(".subject h1")?.textContent;
  if (place !== null && name) {
    change(place, (image) => ({ ...image, name, expiresAt }));
  }
  const base = document.querySelector<HTMLElement>("[data-deleted-from]")?.dataset.deletedFrom;
  const [, id] = /([\w-]{22})\/view$/.exec(location.pathname) ?? [];
  if (base !== undefined && id !== undefined)
    change({ base: reachable(base, `/${id}/view`), id }, () => null);
}

/** The PIN in this browser's list for the image of the form that asks for it; `undefined` if it has none. */
export function savedPin(form: HTMLFormElement): string | undefined {
  const place = placeOf(form);
  if (place === null) return undefined;
  return readSavedList(savedListKey(place.base)).find(({ id }) => id === place.id)?.pin;
}

interface Place {
  base: string;
  id: string;
}

/** The image of an edit or PIN form, by its action. */
function placeOf(form: HTMLFormElement): Place | null {
  const [, base, id] = /^(.*)\/([\w-]{22})\/edit$/.exec(form.getAttribute("action") ?? "") ?? [];
  return base === undefined || id === undefined ? null : { base: reachable(base, `/${id}/edit`), id };
}

/** The mount point as the upload page on this origin names it. */
function reachable(base: string, end: string): string {
  const isHere = URL.canParse(base) && new URL(base).origin === location.origin;
  const path = location.pathname;
  return (isHere ? base : location.origin + path.slice(0, path.length - end.length)).replace(/\/+$/, "");
}

function change({ base, id }: Place, alter: (image: SavedImage) => SavedImage | null): void {
  const key = savedListKey(base);
  const images = readSavedList(key);
  const altered = images.map((image) => (image.id === id ? alter(image) : image));
  if (JSON.stringify(altered) === JSON.stringify(images)) return;
  writeSavedList(
    key,
    altered.filter((image) => image !== null),
  );
}
