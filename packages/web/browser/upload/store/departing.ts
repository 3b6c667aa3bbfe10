import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { createDepartures, type Departure, type Departures } from "../../saved/departures.ts";
import type { Leaving, SavedImage } from "../../saved/saved-image.ts";
import type { MessageLog } from "./message-log.ts";
import type { SavedImages } from "./saved-images.ts";

export interface DepartingOptions {
  saved: SavedImages;
  log: MessageLog;
  /** Deletes an image from the service. @returns the reason for a failure; `null` on success. */
  remove(image: SavedImage): Promise<string | null>;
  onDeleted(image: SavedImage): void;
}

/** Removals and deletions that can still be undone, and how the last failed one ended. */
export interface Departing {
  /** The oldest first. */
  departures: ReadonlySignal<readonly Departure[]>;
  /** IDs of the images that are not shown because they are leaving. */
  ids: ReadonlySignal<ReadonlySet<string | undefined>>;
  /** Why an image was not deleted; `null` without such a failure. */
  failure: Signal<string | null>;
  start(images: readonly SavedImage[], from: Leaving["from"]): void;
  undo(departure: Departure): void;
}

/** Class of the element with the undo buttons. */
export const TOASTS_CLASS = "toasts";

/** ID of the element that shows an image; it gets the focus when the image comes back. */
export function entryId({ id }: Pick<SavedImage, "id">): string {
  return `image-${id}`;
}

export function createDeparting({ saved, log, remove, onDeleted }: DepartingOptions): Departing {
  const departures = signal<readonly Departure[]>([]);
  const failure = signal<string | null>(null);
  const marks: Departures = createDepartures({
    list: { read: () => saved.list.value, change: saved.change, forget: saved.forget },
    remove,
    onDeleted,
    onChange(changed) {
      departures.value = changed;
    },
    onFailed({ name }, reason) {
      failure.value = `${name} was not deleted. ${reason}`;
      log.say(failure.value);
    },
    isHeld: () => document.querySelector(`.${TOASTS_CLASS}:is(:hover, :focus-within)`) !== null,
  });
  marks.resume();
  addEventListener("pagehide", marks.flush);
  saved.list.subscribe(marks.sync);

  return {
    departures,
    failure,
    ids: computed(
      () => new Set(saved.list.value.filter(({ leaving }) => leaving !== undefined).map(({ id }) => id)),
    ),
    start(images, from) {
      marks.start(images, from);
      const started = departures.value.at(-1);
      if (started !== undefined) log.say(`${departureText(started)} Press Control+Z to undo.`);
    },
    undo(departure) {
      marks.undo(departure);
      log.say(`${namesOf(departure)} restored.`);
      const [first] = departure.images;
      // After the list was drawn again.
      requestAnimationFrame(() => {
        const entry = first && document.getElementById(entryId(first));
        entry?.querySelector<HTMLElement>("input, summary, button")?.focus();
      });
    },
  };
}

/** A longer name would hide the rest of the text. */
const MAX_SHOWN_NAME = 60;

/** What leaves, and what the user loses with it. */
export function departureText(departure: Departure): string {
  const { images, from } = departure;
  if (from === "service") return `${namesOf(departure)} deleted.`;
  const lost = images.filter(({ unavailable }) => unavailable === undefined || unavailable === "withheld");
  const loss = `You will no longer be able to edit or delete ${images.length === 1 ? "the image" : "the images"}.`;
  return `${namesOf(departure)} removed from this list.${lost.length === 0 ? "" : ` ${loss}`}`;
}

function namesOf({ images }: Departure): string {
  const [{ name } = { name: "" }] = images;
  if (images.length > 1) return `${images.length} images`;
  return name.length > MAX_SHOWN_NAME ? `${name.slice(0, MAX_SHOWN_NAME)}…` : name;
}
