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
export interface KnownEnds {
  /** Ends by ID. Withheld images come from the latest list only: those of an earlier list may have been released since. */
  byId: ReadonlyMap<string, ImageEnd>;
  /** Whether the lists name every image that ended between the two times. */
  covers(fromMs: number, untilMs: number): boolean;
}

export function mergeEnds(lists: readonly EndList[]): KnownEnds {
  const inOrder = [...lists].sort((one, other) => one.at - other.at);
  const byId = new Map<string, ImageEnd>();
  for (const list of inOrder) {
    for (const end of list.ends) if (end.why !== null || list === inOrder.at(-1)) byId.set(end.id, end);
  }
  return {
    byId,
    covers(fromMs, untilMs) {
      // Each list covers the time that the storage remembers. There must be no gap between two lists.
      let knownUntil = fromMs;
      for (const { at, tombstoneMs } of inOrder) {
        if (at - tombstoneMs < knownUntil) knownUntil = Math.max(knownUntil, at);
      }
      return knownUntil >= untilMs;
    },
  };
}
