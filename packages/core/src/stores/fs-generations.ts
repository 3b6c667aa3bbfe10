import { type BigIntStats, lstatSync } from "node:fs";

/*
 * A key's blob is a chain of files `base@1`, `base@2`, … without a gap; the last is the blob as it is now.
 *
 * Writing means: find the last, n; `link` the finished file to `base@n+1`. The link is the commit point: it fails where the
 * name is taken, so of any number of writers on any number of processes who saw n, exactly one succeeds. Nobody holds a
 * lock, so nobody can die with one. A superseded file gives its bytes back by being replaced (renamed over) with an empty
 * stub: its name stays taken, so a writer who slept through any number of changes still loses.
 *
 * Deleting means: unlink `base@1`. A chain without its first file is no chain, so the key is absent in one step; the others
 * go afterwards, the last first, and whoever creates the key anew removes what a crash left of them. A writer whose chain
 * was deleted between its look and its link sees that its predecessor is gone, and takes its own file away.
 *
 * Reading means: open the last, then see that no successor has appeared: at that moment it was the blob.
 */

/** The blob that a chain ends in. */
export interface Head {
  generation: number;
  revision: string;
  size: number;
}

export function generationPath(base: string, generation: number): string {
  return `${base}@${generation}`;
}

/** Splits the name of a chain's file; `null` for any other name. */
export function parseGenerationName(name: string): { base: string; generation: number } | null {
  const match = /^(.+)@([1-9]\d{0,14})$/.exec(name);
  return match === null ? null : { base: match[1] ?? "", generation: Number(match[2]) };
}

function look(base: string, generation: number): BigIntStats | undefined {
  return lstatSync(generationPath(base, generation), { bigint: true, throwIfNoEntry: false });
}

function isTaken(base: string, generation: number): boolean {
  return look(base, generation) !== undefined;
}

/** What `stats` of the file of a generation say. */
export function headOf(generation: number, stats: BigIntStats): Head {
  // The inode and a time of its own (see stampUniquely) tell it from a file that later has the same name.
  const revision = `${generation}.${stats.ino.toString(36)}.${stats.mtimeNs.toString(36)}`;
  return { generation, revision, size: Number(stats.size) };
}

/** The last of the names from `base@2` on that are taken without a gap; 1 where `base@2` is free. */
export function lastTaken(base: string): number {
  if (!isTaken(base, 2)) return 1;
  let low = 2;
  let high = 4;
  while (isTaken(base, high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (isTaken(base, middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** The blob as it is now; `null` where there is none. Nearly every chain has one file, so two looks suffice. */
export function findHead(base: string): Head | null {
  for (;;) {
    const last = lastTaken(base);
    const stats = look(base, last);
    if (last > 1 && !isTaken(base, 1)) return null;
    if (stats === undefined) {
      if (last === 1) return null;
      continue;
    }
    // The successor was free before this file was seen; for a longer chain it may have come meanwhile.
    if (last === 1 || !isTaken(base, last + 1)) return headOf(last, stats);
  }
}

/**
 * Whether the chain still ends in `revision`. The successor is looked for first, the beginning last: what is still there
 * at the end was there when the successor was not.
 */
export function isHead(base: string, revision: string): boolean {
  const generation = Number.parseInt(revision, 10);
  if (!(generation >= 1) || isTaken(base, generation + 1)) return false;
  const stats = look(base, generation);
  if (stats === undefined || headOf(generation, stats).revision !== revision) return false;
  return generation === 1 || isTaken(base, 1);
}

/** Whether a file that was the chain's last is still in it, followed or not. */
export function isStillThere(base: string, { generation, revision }: Head): boolean {
  const stats = look(base, generation);
  return stats !== undefined && headOf(generation, stats).revision === revision;
}

/** Whether files of a chain without a beginning are left. */
export function hasRemains(base: string): boolean {
  return isTaken(base, 2) && !isTaken(base, 1);
}
