import type { ImageEnd } from "../life/image-listing.ts";

/** What `outrigger images ends` listed at one moment. */
export interface EndList {
  /** When the list was begun; Unix milliseconds. */
  at: number;
  /** How long the storage remembered ends then; milliseconds. */
  tombstoneMs: number;
  /** What was gone or withheld then. */
  ends: readonly ImageEnd[];
}

/** Lists of several days as one. */
export interface KnownEnds {
  /** By ID. Of withheld images only the latest list tells: an earlier one may name images that were released since. */
  byId: ReadonlyMap<string, ImageEnd>;
  /** Whether no image can have ended between the two times without being named by a list. */
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
      // Each list names what ended in the time that the storage remembers; no time may lie between two of them.
      let knownUntil = fromMs;
      for (const { at, tombstoneMs } of inOrder) {
        if (at - tombstoneMs < knownUntil) knownUntil = Math.max(knownUntil, at);
      }
      return knownUntil >= untilMs;
    },
  };
}
