import type { ImageEnd } from "@outrigger/core";

/** A list of ended images, as written by `outrigger images ends`. */
export interface EndList {
  /** Start of the list in Unix milliseconds. */
  at: number;
  /** Time that the storage remembered ends, in milliseconds. */
  tombstoneMs: number;
  /** Images that were gone or withheld. */
  ends: readonly ImageEnd[];
}

/** Several lists, merged. */
export class KnownEnds {
  /** Ends by ID. Withheld images come from the latest list only: those of an earlier list may have been released since. */
  readonly byId: ReadonlyMap<string, ImageEnd>;
  readonly #inOrder: readonly EndList[];

  constructor(lists: readonly EndList[]) {
    this.#inOrder = lists.toSorted((one, other) => one.at - other.at);
    const known = this.#inOrder.flatMap((list) =>
      list.ends.filter(({ why }) => why !== null || list === this.#inOrder.at(-1)),
    );
    this.byId = new Map(known.map((end) => [end.id, end]));
  }

  /** Whether the lists name every image that ended between the two times. */
  covers(fromMs: number, untilMs: number): boolean {
    // Each list covers the time that the storage remembers. There must be no gap between two lists.
    let knownUntil = fromMs;
    for (const { at, tombstoneMs } of this.#inOrder) {
      if (at - tombstoneMs < knownUntil) knownUntil = Math.max(knownUntil, at);
    }
    return knownUntil >= untilMs;
  }
}
