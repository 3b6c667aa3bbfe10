import { type ImagesClient, OutriggerError } from "@outrigger/client";
import { whyUnavailable } from "../saved/check-saved.ts";
import { readLinksFile, type SavedKey } from "../saved/links-file.ts";
import type { SavedImage } from "../saved/saved-image.ts";
import type { SavedImages } from "./store/saved-images.ts";

/** How many links of a file were restored, and how many were not, by reason. */
export interface RestoreCounts {
  restored: number;
  known: number;
  gone: number;
  wrongPin: number;
  unchecked: number;
}

export interface RestoreOptions {
  saved: SavedImages;
  client: ImagesClient;
  onProgress(done: number, total: number): void;
}

/** An entity tag that no record has. */
const NO_TAG = '"restore"';

/**
 * Adds the images of a links file to the list, in its order. Each must exist, and its PIN must be right. The client
 * waits when the service asks for it, so a long file takes minutes.
 */
export async function restoreLinks(
  text: string,
  { saved, client, onProgress }: RestoreOptions,
): Promise<RestoreCounts> {
  const counts: RestoreCounts = { restored: 0, known: 0, gone: 0, wrongPin: 0, unchecked: 0 };
  const keys = readLinksFile(text);
  // Backwards, because the list puts each added image first.
  for (const [index, key] of [...keys.entries()].reverse()) {
    onProgress(keys.length - 1 - index, keys.length);
    if (saved.list.value.some(isKnown(key))) {
      counts.known += 1;
      continue;
    }
    const found = await verify(client, key);
    if (typeof found === "string") counts[found] += 1;
    else {
      saved.save(found);
      saved.markCopied([found.id]);
      counts.restored += 1;
    }
  }
  return counts;
}

function isKnown(key: SavedKey): (image: SavedImage) => boolean {
  return ({ id, pin, leaving }) => id === key.id && pin === key.pin && leaving === undefined;
}

type Refused = "gone" | "wrongPin" | "unchecked";

async function verify(client: ImagesClient, { id, pin }: SavedKey): Promise<SavedImage | Refused> {
  try {
    const { name, url, type, expiresAt } = await client.get(id);
    const refused = await checkPin(client, { id, pin });
    return refused ?? { id, pin, name, url, type, expiresAt, checkedAt: Date.now() };
  } catch (error) {
    return reasonOf(error);
  }
}

/** An edit of a revision that does not exist changes nothing, and is refused (412) only after the PIN was accepted. */
async function checkPin(client: ImagesClient, { id, pin }: SavedKey): Promise<Refused | null> {
  try {
    await client.edit(id, pin, {}, { ifMatch: NO_TAG });
    return "unchecked";
  } catch (error) {
    return error instanceof OutriggerError && error.status === 412 ? null : reasonOf(error);
  }
}

function reasonOf(error: unknown): Refused {
  if (!(error instanceof OutriggerError)) return "unchecked";
  if (error.status === 403) return "wrongPin";
  const unavailable = whyUnavailable(error.status, error.detail);
  return unavailable === undefined || unavailable === "withheld" ? "unchecked" : "gone";
}

/** The result for a person. */
export function restoreText(counts: RestoreCounts): string {
  if (Object.values(counts).every((count) => count === 0)) return "This file has no edit links.";
  const { restored, known, gone, wrongPin, unchecked } = counts;
  const parts = [
    `${restored} ${restored === 1 ? "link" : "links"} restored`,
    known > 0 && `${known} already in the list`,
    gone > 0 && `${gone} expired or deleted`,
    wrongPin > 0 && `${wrongPin} with a wrong PIN`,
    unchecked > 0 && `${unchecked} could not be checked; try again later`,
  ];
  return `${parts.filter((part) => part !== false).join(", ")}.`;
}
