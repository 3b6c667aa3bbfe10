import type { Leaving, SavedImage } from "./saved-image.ts";
import type { SavedChange } from "./saved-list.ts";

/** Images that leave together, until `atMs` (Unix milliseconds) at the earliest. */
export interface Departure {
  number: number;
  from: Leaving["from"];
  images: readonly SavedImage[];
  atMs: number;
}

/** Time to undo, milliseconds. */
export const UNDO_MS = { list: 10_000, service: 8_000 } as const;

const HELD_MS = 1_000;

/** The saved list, as departures change it. */
export interface DepartingList {
  read(): readonly SavedImage[];
  change(id: string, change: SavedChange): void;
  forget(ids: readonly string[]): void;
}

export interface DeparturesOptions {
  list: DepartingList;
  /**
   * Deletes an image from the service. The request must survive the page (`keepalive`).
   *
   * @returns the reason for a failure; `null` when the image no longer exists.
   */
  remove(image: SavedImage): Promise<string | null>;
  /** The departures that can be undone have changed. */
  onChange(departures: readonly Departure[]): void;
  onDeleted(image: SavedImage): void;
  /** The image stays. */
  onFailed(image: SavedImage, reason: string): void;
  /** Whether the reader is at the undo button: it must not disappear. */
  isHeld(): boolean;
}

/**
 * Removals that can be undone for some seconds. The mark `leaving` in the saved list keeps them across reloads:
 * nothing is dropped, and no PIN is lost, before the time has passed.
 */
export interface Departures {
  start(images: readonly SavedImage[], from: Leaving["from"]): void;
  undo(departure: Departure): void;
  /** Takes up the marks that an earlier page left: the rest of their time can be used to undo. */
  resume(): void;
  /** Drops departures that another window has undone or completed. */
  sync(): void;
  /** Sends pending deletions at once, for a page that is left. Removals from the list stay pending. */
  flush(): void;
}

export function createDepartures(options: DeparturesOptions): Departures {
  const { list } = options;
  const timers = new Map<number, ReturnType<typeof setTimeout>>();
  let departures: readonly Departure[] = [];
  let count = 0;

  function set(changed: readonly Departure[]): void {
    departures = changed;
    options.onChange(departures);
  }

  function close({ number }: Departure): void {
    clearTimeout(timers.get(number));
    timers.delete(number);
    set(departures.filter((departure) => departure.number !== number));
  }

  function open(images: readonly SavedImage[], { from, atMs }: Leaving): void {
    count += 1;
    const departure: Departure = { number: count, from, images, atMs };
    set([...departures, departure]);
    arm(departure, atMs - Date.now());
  }

  function arm(departure: Departure, delayMs: number): void {
    const end = () => (options.isHeld() ? arm(departure, HELD_MS) : complete(departure));
    timers.set(departure.number, setTimeout(end, Math.max(0, delayMs)));
  }

  /** The images that no window has brought back. */
  function stillLeaving({ images, from }: Departure): SavedImage[] {
    const current = new Map(list.read().map((image) => [image.id, image]));
    return images.flatMap(({ id }) => {
      const image = current.get(id);
      return image?.leaving?.from === from ? [image] : [];
    });
  }

  function complete(departure: Departure): void {
    const images = stillLeaving(departure);
    close(departure);
    if (departure.from === "list") list.forget(images.map(({ id }) => id));
    else for (const image of images) void deleteNow(image);
  }

  async function deleteNow(image: SavedImage): Promise<void> {
    const reason = await options.remove(image);
    if (reason === null) {
      list.forget([image.id]);
      options.onDeleted(image);
    } else {
      list.change(image.id, { leaving: undefined });
      options.onFailed(image, reason);
    }
  }

  return {
    start(images, from) {
      const leaving = { from, atMs: Date.now() + UNDO_MS[from] };
      for (const { id } of images) list.change(id, { leaving });
      open(images, leaving);
    },
    undo(departure) {
      for (const { id } of stillLeaving(departure)) list.change(id, { leaving: undefined });
      close(departure);
    },
    resume() {
      const groups = new Map<string, SavedImage[]>();
      for (const image of list.read()) {
        if (image.leaving === undefined) continue;
        const key = JSON.stringify(image.leaving);
        groups.set(key, [...(groups.get(key) ?? []), image]);
      }
      for (const images of groups.values()) {
        const leaving = images[0]?.leaving;
        if (leaving === undefined) continue;
        // A wrong clock must not delay the end.
        const atMs = Math.min(leaving.atMs, Date.now() + UNDO_MS[leaving.from]);
        if (atMs > Date.now()) open(images, { ...leaving, atMs });
        else complete({ number: 0, images, from: leaving.from, atMs });
      }
    },
    sync() {
      for (const departure of departures) if (stillLeaving(departure).length === 0) close(departure);
    },
    flush() {
      for (const departure of departures.filter(({ from }) => from === "service")) {
        const images = stillLeaving(departure);
        close(departure);
        for (const image of images) {
          // The next page deletes it again if this request does not arrive.
          list.change(image.id, { leaving: { from: "service", atMs: 0 } });
          void deleteNow(image);
        }
      }
    },
  };
}
