import type { ImagesClient } from "@outrigger/client";
import { checkSaved, dueForCheck } from "../../saved/check-saved.ts";
import type { SavedImage } from "../../saved/saved-image.ts";
import { changedImage, type SavedChange } from "../../saved/saved-list.ts";
import type { SavedImages } from "./saved-images.ts";

export interface ChecksOptions {
  saved: SavedImages;
  /** A client without retries: a check is repeated on another occasion. */
  client: ImagesClient;
  /** Called with the new data of an image. */
  onChanged(image: SavedImage): void;
}

/** Compares the list with the service. */
export interface Checks {
  /** Checks the images that were not checked lately. */
  checkDue(): Promise<void>;
  /** Checks one image at once. @returns its data as far as the service answered; `null` if it is no longer listed. */
  checkNow(image: SavedImage): Promise<SavedImage | null>;
}

export function createChecks({ saved, client, onChanged }: ChecksOptions): Checks {
  let running: Promise<void> | null = null;
  let pausedUntilMs = 0;

  function apply(image: SavedImage, change: SavedChange): void {
    saved.change(image.id, change);
    onChanged(changedImage(image, change));
  }

  async function pass(images: readonly SavedImage[]): Promise<void> {
    const pauseMs = await checkSaved(images, { read: (id) => client.get(id), onChecked: apply });
    if (pauseMs > 0) pausedUntilMs = Date.now() + pauseMs;
  }

  return {
    checkDue() {
      const isPaused = Date.now() < pausedUntilMs;
      const due = dueForCheck(saved.list.value, Date.now());
      if (running !== null || isPaused || due.length === 0) return running ?? Promise.resolve();
      running = pass(due).finally(() => {
        running = null;
      });
      return running;
    },
    async checkNow(image) {
      await pass([image]);
      return saved.list.value.find(({ id }) => id === image.id) ?? null;
    },
  };
}

/** Checks when the page is opened and whenever the reader returns to it. */
export function checkOnReturn({ checkDue }: Checks): void {
  const check = () => {
    if (document.visibilityState === "visible") void checkDue();
  };
  addEventListener("focus", check);
  addEventListener("pageshow", check);
  document.addEventListener("visibilitychange", check);
  check();
}
