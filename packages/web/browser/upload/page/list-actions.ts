import { t } from "../../../src/texts.ts";
import type { SavedImage } from "../../saved/saved-image.ts";
import type { Session } from "../session.ts";
import { say } from "../store/messages.ts";

/** Takes images off the list of this browser. The PIN of one that exists is lost, so this is asked first. */
export function removeFromList(session: Session, images: readonly SavedImage[], onLeave: () => void): void {
  const lost = images.filter(({ pin, unavailable = "withheld" }) => pin !== "" && unavailable === "withheld");
  const what = namesOf(images);
  if (lost.length > 0 && !confirm(t("uploads.removeAsk", { count: lost.length, what }))) return;
  onLeave();
  session.saved.forget(images.map(({ id }) => id));
  say(t("uploads.removed", { what }));
}

/** Deletes images from the service after a question, and then from the list. @returns the reason for a failure; `null` without one. */
export async function deleteImages(
  session: Session,
  images: readonly SavedImage[],
  onLeave: () => void,
): Promise<string | null> {
  if (!confirm(t("uploads.deleteAsk", { what: namesOf(images) }))) return null;
  const deleted: SavedImage[] = [];
  let failure: string | null = null;
  for (const image of images) {
    const reason = await session.remove(image);
    if (reason === null) deleted.push(image);
    else failure = t("uploads.deleteFailed", { name: image.name, reason });
  }
  if (deleted.length > 0) {
    say(t("uploads.deletedNow", { what: namesOf(deleted) }));
    onLeave();
    session.saved.forget(deleted.map(({ id }) => id));
  }
  return failure;
}

function namesOf(images: readonly SavedImage[]): string {
  const [first] = images;
  return images.length === 1 && first !== undefined
    ? first.name
    : t("uploads.images", { count: images.length });
}
