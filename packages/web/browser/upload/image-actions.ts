import { type ImagesClient, OutriggerError } from "@outrigger/client";
import type { MessageLog } from "./store/message-log.ts";
import type { SavedImage } from "./store/saved-image.ts";
import type { SavedImages } from "./store/saved-images.ts";
import type { UploadEvent } from "./store/uploads.ts";

/** Actions on a stored image. None of them rejects; failures are announced. */
export interface ImageActions {
  /** @returns the reason for a failure; `null` on success. */
  rename(image: SavedImage, name: string): Promise<string | null>;
  /** Deletes the image from the server; it stays in this browser's list. @returns as `rename`. */
  remove(image: SavedImage): Promise<string | null>;
}

export interface ImageActionsOptions {
  client: ImagesClient;
  saved: SavedImages;
  log: MessageLog;
  dispatch(event: UploadEvent): void;
}

export function createImageActions({ client, saved, log, dispatch }: ImageActionsOptions): ImageActions {
  return {
    async rename(image, name) {
      try {
        const { name: kept, expiresAt } = await client.edit(image.id, image.pin, { name });
        const renamed = { ...image, name: kept, expiresAt };
        saved.save(renamed);
        dispatch({ kind: "updated", image: renamed });
        log.say(`Renamed ${image.name} to ${kept}.`);
        return null;
      } catch (error) {
        const reason = reasonOf(error);
        log.say(`${image.name} was not renamed. ${reason}`);
        return reason;
      }
    },
    async remove(image) {
      try {
        await client.remove(image.id, image.pin);
      } catch (error) {
        if (!isGone(error)) {
          const reason = reasonOf(error);
          log.say(`${image.name} was not deleted. ${reason}`);
          return reason;
        }
      }
      log.say(`${image.name} deleted.`);
      return null;
    },
  };
}

/** Whether the image no longer exists. */
export function isGone(error: unknown): boolean {
  return error instanceof OutriggerError && (error.status === 404 || error.status === 410);
}

/** Why a request failed, for a person. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof OutriggerError)) return "Something went wrong on this page.";
  if (error.status === 0) return "The server cannot be reached.";
  return `The server says: “${error.detail.replace(/\.$/, "")}.”`;
}
