import type { SavedImage } from "../../saved/saved-image.ts";
import type { Session } from "../session.ts";
import { say } from "../store/messages.ts";

/** Takes images off the list of this browser. The PIN of one that exists is lost, so this is asked first. */
export function removeFromList(session: Session, images: readonly SavedImage[], onLeave: () => void): void {
  const lost = images.filter(({ pin, unavailable = "withheld" }) => pin !== "" && unavailable === "withheld");
  const names = namesOf(images);
  const loss = `You will no longer be able to edit or delete ${lost.length === 1 ? "the image" : "the images"}.`;
  if (lost.length > 0 && !confirm(`Remove ${names} from this list? ${loss}`)) return;
  onLeave();
  session.saved.forget(images.map(({ id }) => id));
  say(`${names} removed from this list.`);
}

/** Deletes images from the service after a question, and then from the list. @returns the reason for a failure; `null` without one. */
export async function deleteImages(
  session: Session,
  images: readonly SavedImage[],
  onLeave: () => void,
): Promise<string | null> {
  if (!confirm(`Delete ${namesOf(images)} for everyone? This cannot be undone.`)) return null;
  const deleted: SavedImage[] = [];
  let failure: string | null = null;
  for (const image of images) {
    const reason = await session.remove(image);
    if (reason === null) deleted.push(image);
    else failure = `${image.name} was not deleted. ${reason}`;
  }
  if (deleted.length > 0) {
    say(`${namesOf(deleted)} deleted.`);
    onLeave();
    session.saved.forget(deleted.map(({ id }) => id));
  }
  return failure;
}

function namesOf(images: readonly SavedImage[]): string {
  const [first] = images;
  return images.length === 1 && first !== undefined ? first.name : `${images.length} images`;
}
