import type { ReadonlySignal } from "@preact/signals";
import type { MessageLog } from "./message-log.ts";
import { announcementText, isActive, totalsOf } from "./totals.ts";
import type { Upload } from "./uploads.ts";

/** Announces the ends of uploads without flooding screen readers. */
export interface Announcer {
  /** Says `text` if the upload is alone. Several uploads are summed up, at most once in 2 s. */
  ended(upload: Upload, text: string): void;
}

const PAUSE_MS = 2000;

export function createAnnouncer(uploads: ReadonlySignal<readonly Upload[]>, log: MessageLog): Announcer {
  let isPlanned = false;
  return {
    ended({ batch, key }, text) {
      const isAlone = !uploads.value.some(
        (other) => other.key !== key && (other.batch === batch || isActive(other)),
      );
      if (isAlone) log.say(text);
      if (isAlone || isPlanned) return;
      isPlanned = true;
      setTimeout(() => {
        isPlanned = false;
        if (uploads.value.length > 0) log.say(announcementText(totalsOf(uploads.value)));
      }, PAUSE_MS);
    },
  };
}
