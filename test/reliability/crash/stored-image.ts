import { randomBytes } from "node:crypto";
import { examine, type Finding, type ImageState, type Version } from "./examine.ts";
import { edit, type Key, keyIn, sha256, upload } from "./image-client.ts";

/** An image that the test made, and its expected state. */
export interface StoredImage {
  key: Key;
  contents: readonly string[];
  versions: readonly Version[];
  states: readonly ImageState[];
}

export const HOUR_MS = 3_600_000;

const PNG_MAGIC = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
/** Large enough for several writes. */
const PICTURE_BYTES = 300_000;

/** Begins with the PNG signature, the only part that a host checks. */
export function randomPicture(): Buffer {
  return Buffer.concat([PNG_MAGIC, randomBytes(PICTURE_BYTES)]);
}

export function versionOf(name: string, lifetimeMs: number): Version {
  return { name, expiresAt: new Date(Date.now() + lifetimeMs).toISOString() };
}

/** Uploads a picture; it must be accepted. */
export async function storeImage(base: string, version: Version): Promise<StoredImage> {
  const bytes = randomPicture();
  const answer = await upload(base, bytes, { ...version });
  if (answer?.status !== 201) throw new Error(`An upload was answered with ${answer?.status}`);
  return { key: keyIn(answer), contents: [sha256(bytes)], versions: [version], states: ["alive"] };
}

/** Edits it as its owner; this must succeed. */
export async function changeImage(base: string, image: StoredImage, version: Version): Promise<void> {
  const answer = await edit(base, image.key, { ...version });
  if (answer?.status !== 200) throw new Error(`An edit was answered with ${answer?.status}`);
  image.versions = [version];
}

export function look(base: string, { key, ...expected }: StoredImage): Promise<Finding> {
  return examine(base, { id: key.id, ...expected });
}
