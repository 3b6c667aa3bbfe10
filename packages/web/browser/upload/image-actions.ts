import { type ImageChange, type ImagesClient, OutriggerError } from "@outrigger/client";
import { expiryMs, type SavedImage } from "../saved/saved-image.ts";
import { changedImage } from "../saved/saved-list.ts";
import { localText } from "../viewer/local-time.ts";
import type { MessageLog } from "./store/message-log.ts";
import type { SavedImages } from "./store/saved-images.ts";
import type { UploadEvent } from "./store/uploads.ts";

/** Actions on a stored image. None of them rejects. Each resolves with the reason for a failure; `null` on success. */
export interface ImageActions {
  /** Announces the result. */
  rename(image: SavedImage, name: string): Promise<string | null>;
  /** Lets the image expire at `atMs`, Unix milliseconds. Announces the result. */
  extend(image: SavedImage, atMs: number): Promise<string | null>;
  /** Deletes the image from the service, even if the page is left meanwhile; it stays in this browser's list. */
  remove(image: SavedImage): Promise<string | null>;
}

export interface ImageActionsOptions {
  client: ImagesClient;
  saved: SavedImages;
  log: MessageLog;
  dispatch(event: UploadEvent): void;
}

export function createImageActions(options: ImageActionsOptions): ImageActions {
  const { client, saved, log, dispatch } = options;

  /** Applies a change, and saves what the service answered. Rejects if it refuses. */
  async function edit(image: SavedImage, wanted: ImageChange): Promise<SavedImage> {
    const { name, expiresAt } = await client.edit(image.id, image.pin, wanted);
    const change = { name, expiresAt, checkedAt: Date.now(), unavailable: undefined };
    saved.change(image.id, change);
    const changed = changedImage(image, change);
    dispatch({ kind: "updated", image: changed });
    return changed;
  }

  function refused(text: string, reason: string): string {
    log.say(`${text} ${reason}`);
    return reason;
  }

  return {
    async rename(image, name) {
      try {
        const renamed = await edit(image, { name });
        log.say(`Renamed ${image.name} to ${renamed.name}.`);
        return null;
      } catch (error) {
        return refused(`${image.name} was not renamed.`, reasonOf(error));
      }
    },
    async extend(image, atMs) {
      try {
        const extended = await edit(image, { expiresAt: atMs });
        log.say(`${extended.name} expires on ${localText(expiryMs(extended.expiresAt))}.`);
        return null;
      } catch (error) {
        return refused(`${image.name} was not extended.`, reasonOf(error));
      }
    },
    async remove(image) {
      try {
        await client.remove(image.id, image.pin, { keepalive: true });
        return null;
      } catch (error) {
        return isGone(error) ? null : reasonOf(error);
      }
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
