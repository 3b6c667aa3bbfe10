import { localText } from "../viewer/local-time.ts";
import { editAddress, type SavedImage } from "./saved-image.ts";

/** The key to an image, as an edit link contains it. */
export interface SavedKey {
  id: string;
  pin: string;
}

const EDIT_LINK = /([\w-]{22})\/edit\?pin=([0-9A-Za-z-]{16,19})(?![\w-])/g;

/** A text for people with the edit link of every image. {@link readLinksFile} finds the links in it. */
export function linksFileText(images: readonly SavedImage[], baseUrl: string, nowMs: number): string {
  const entries = images.map((image) => `${image.name}\n${expiryOf(image)}\n${editAddress(image)}\n`);
  const head =
    `Edit links of images on ${baseUrl}/\nSaved on ${localText(nowMs)}\n\n` +
    "Anyone with these links can edit or delete the images. Keep this file private.\n" +
    `To restore the list in another browser, open ${baseUrl}/ and choose "Restore".\n`;
  return [head, ...entries].join("\n");
}

function expiryOf({ expiresAt }: SavedImage): string {
  return expiresAt === null ? "never expires" : `expires ${localText(Date.parse(expiresAt))}`;
}

/** The edit links in any text, each image once. */
export function readLinksFile(text: string): SavedKey[] {
  const keys = new Map<string, SavedKey>();
  for (const [, id = "", pin = ""] of text.matchAll(EDIT_LINK)) {
    if (!keys.has(id)) keys.set(id, { id, pin });
  }
  return [...keys.values()];
}
