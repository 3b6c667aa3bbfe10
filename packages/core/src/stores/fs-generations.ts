import { existsSync, lstatSync, readlinkSync, type Stats } from "node:fs";
import { ServiceError } from "../errors.ts";
import { systemCode } from "./fs-errors.ts";

/*
 * A key's blob is a directory `<key>@` with a chain of files `<life>.1`, `<life>.2`, … without a gap; the last is the blob
 * as it is now. `<life>` is a random name that the directory was made with; its symbolic link `life`, to the chain's first
 * file, tells it. So no name ever comes back.
 *
 * Creating means: make the directory with its first file elsewhere, and rename it to its place. That fails where there is
 * one already, so of any number of creators exactly one succeeds.
 *
 * Replacing means: find the last, n; `link` the finished file as n+1; see that the directory in place still is of the same
 * life, so that it was that directory which the link went into. The link fails where the name is taken, so of any number of
 * writers who saw n, exactly one succeeds. The superseded file gives its bytes back by being replaced (renamed over) with
 * an empty stub: its name stays taken. Links and stubs of a life that is over are names in which nobody is interested.
 *
 * Deleting means: rename the directory away. The key is absent in one step; the files go afterwards, and after a crash
 * with the other temporary files.
 *
 * Reading means: look that there is no n+1, then open n. A chain only grows while it is in its place, so n was its last at
 * the first of these moments.
 *
 * Nobody holds a lock, so nobody can die with one.
 */

/** The blob that a chain ends in. */
export interface Head {
  life: string;
  generation: number;
  size: number;
}

/** The last name of a chain. */
export type Place = Omit<Head, "size">;

/** Name of the symbolic link in a chain's directory that tells its life: it leads to the first file. */
export const LIFE_LINK = "life";

const FIRST_FILE = /^([0-9a-f]{16})\.1$/;
const REVISION = /^([0-9a-f]{16})\.([1-9]\d{0,14})$/;
const NO_ENTRY_IS_NO_ERROR = { throwIfNoEntry: false } as const;

/** The directory of a key's chain; a key itself cannot contain an `@`. */
export function chainDirectory(base: string): string {
  return `${base}@`;
}

/** The last segment of the key whose chain a directory of this name holds; `null` for any other directory. */
export function chainNameOf(directoryName: string): string | null {
  return directoryName.endsWith("@") ? directoryName.slice(0, -1) : null;
}

export function revisionOf({ life, generation }: Place): string {
  return `${life}.${generation}`;
}

export function successorOf({ life, generation }: Place): Place {
  return { life, generation: generation + 1 };
}

export function generationPath(base: string, place: Place): string {
  return `${chainDirectory(base)}/${revisionOf(place)}`;
}

function isTaken(base: string, life: string, generation: number): boolean {
  return existsSync(generationPath(base, { life, generation }));
}

/** Stubs are empty and, unlike every blob, not writable by their owner. */
export function isStub(stats: Stats): boolean {
  return stats.size === 0 && (stats.mode & 0o200) === 0;
}

/** The life of the chain in its place; `null` where there is none. */
export function lifeOf(base: string): string | null {
  let first: string;
  try {
    first = readlinkSync(`${chainDirectory(base)}/${LIFE_LINK}`);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  }
  const life = FIRST_FILE.exec(first)?.[1];
  if (life !== undefined) return life;
  throw damaged(base);
}

/** The last generation whose name is taken. Doubles its steps, then halves: a chain has no gap. */
function lastGeneration(base: string, life: string): number {
  // Nearly every chain has one file, so one look suffices.
  if (!isTaken(base, life, 2)) return 1;
  let low = 2;
  let high = 4;
  while (isTaken(base, life, high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (isTaken(base, life, middle)) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * Finds the last name of the chain and gives what `look` sees there; `null` where there is no chain. `look` gives
 * `undefined` where the name is gone, or is no blob any more: then the search begins anew.
 */
export function lookAtHead<T>(base: string, look: (place: Place) => T | undefined): T | null {
  let seen: string | undefined;
  for (;;) {
    const life = lifeOf(base);
    if (life === null) return null;
    const generation = lastGeneration(base, life);
    const result = look({ life, generation });
    if (result !== undefined) return result;
    // Deleted or replaced meanwhile. Nothing but damage makes the same place fail twice.
    const place = revisionOf({ life, generation });
    if (place === seen) throw damaged(base);
    seen = place;
  }
}

/** The blob as it is now; `null` where there is none. */
export function findHead(base: string): Head | null {
  return lookAtHead(base, (place) => {
    const stats = lstatSync(generationPath(base, place), NO_ENTRY_IS_NO_ERROR);
    return stats === undefined || isStub(stats) ? undefined : { ...place, size: stats.size };
  });
}

/** The two names by which a revision is known to be a chain's last. */
export interface Probe {
  path: string;
  successor: string;
}

/** `null` for a text that is no revision. */
export function probeOf(base: string, revision: string): Probe | null {
  const [, life, generation] = REVISION.exec(revision) ?? [];
  if (life === undefined) return null;
  const place = { life, generation: Number(generation) };
  return { path: generationPath(base, place), successor: generationPath(base, successorOf(place)) };
}

/** Whether a chain in its place still ends in the revision. */
export function isHead({ path, successor }: Probe): boolean {
  // In this order, see above. A stub is what a slow writer left of a life that is over.
  if (existsSync(successor)) return false;
  const stats = lstatSync(path, NO_ENTRY_IS_NO_ERROR);
  return stats !== undefined && !isStub(stats);
}

function damaged(base: string): ServiceError {
  return new ServiceError("store_unavailable", `The files in ${chainDirectory(base)} are damaged`);
}
