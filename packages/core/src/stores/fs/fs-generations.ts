import { existsSync, lstatSync, readdirSync, rmdirSync, type Stats, unlinkSync } from "node:fs";
import { ServiceError } from "../../errors.ts";
import { systemCode } from "./fs-errors.ts";

/*
 * A key's blob is a directory `<key>@`, its chain. It holds an empty file `<life>.0`, the anchor, and the generations
 * `<life>.1`, `<life>.2`, …. The highest is the blob as it is now. `<life>` is a random name, made with the directory.
 *
 * Create: make the directory with anchor and first generation elsewhere, then rename it to its place. The rename fails
 * where a chain is in place, so one of any number of creators succeeds. Anchors come into place in no other way, so the
 * anchor tells the life of the chain in place. An empty directory, which only a copy can leave, counts as no chain.
 *
 * Append: see that n is the highest; link the complete file as n+1; then see that n still is the same file. A taken name
 * fails the link, so one of all writers who saw n succeeds. A writer may sleep for days between its look and its link:
 *   - The chain was replaced by another life. Then n is gone, or it is another file; the writer removes its link.
 *   - n+1 was taken, superseded and removed. Superseded generations are removed in ascending order, so n is gone.
 *   - Otherwise n+1 was never taken before, and the writer has won.
 * "The same file" means the same inode. The writer's own file is older than its look, so the inode of the file that it
 * looks for, or of one that took a name since, is never that of another sleeping writer's file.
 * A writer may also sleep between its link and its look for n. Generation n is not removed as long as n+1 has two names, of
 * which the writer removes the first at its end. A process that is taken for dead loses that name; its link then counts if
 * it is the highest, which it cannot be where n+1 was taken before.
 * A killed writer may leave a link in a chain of another life. Readers ignore it, and it goes with that chain.
 *
 * Read: list the directory; open the highest generation n; for n > 1 see that the anchor is there. A listing gives every
 * entry that exists throughout, so n was the highest at some moment of it. The anchor proves that n belongs to the chain
 * in place; `<life>.1` needs no proof, since no append makes that name.
 *
 * Probe of a known revision n: see that there is no n+1, then that n is the same file. The second look proves that n was
 * in place throughout, so at the first look n+1 was not removed but never taken: n was the highest.
 *
 * Remove superseded generations: each was below a whole generation of its life, so removing it is right at any later time.
 * No step of it makes a name, so a process that slept for days does no harm. See fs-superseded.ts.
 *
 * Delete: rename the directory away. The key is absent in one step; the files go afterwards, and after a crash with the
 * other temporary files.
 *
 * Copies: no file is changed once it has its name, and superseded generations keep their bytes for hours. A copy that lists
 * a chain, and reads the files later, therefore gets a whole generation that was the highest since it listed them. A copy
 * may lack the files of a chain that was deleted meanwhile: without any generation there is no blob.
 *
 * Damage: an empty file is a blob only if it carries the mark below. A reader takes the newest whole generation under an
 * empty one; appends go above all names that are taken. An error of the disk is no reason to take an older generation: it
 * may pass, and a deletion or a withholding would be undone as long as it lasts.
 *
 * Chains of the first layout have no anchor but a symbolic link `life`, which is ignored: there `<life>.1` is never removed
 * and tells the life. Superseded generations are stubs in them: empty and not writable.
 *
 * No process holds a lock, so a process that dies leaves none.
 */

/** A generation of a chain. */
export interface Place {
  life: string;
  generation: number;
}

/** A file that was seen under its name. */
export interface SeenFile {
  generation: number;
  inode: number;
}

/** The blob that a chain ends in. */
export interface Head extends Place {
  inode: number;
  /** Length in bytes. */
  size: number;
  /** The highest name that is taken. It is not the blob's own where its file is damaged. */
  top: SeenFile;
}

/** The generations of the chain in place. */
export interface Chain {
  life: string;
  /** The highest first; at least one. */
  generations: number[];
  /** The generation that tells the life: 0, or 1 in the first layout. `null` in a copy that lacks it. */
  anchor: number | null;
}

/** Mode of a blob's file: its owner may read and write it. */
export const BLOB_MODE = 0o600;
/** Mode of the file of an empty blob. The execute bit tells it from a file that lost its bytes. */
export const EMPTY_BLOB_MODE = 0o700;
/** Mode of files that are empty for good. */
export const STUB_MODE = 0o400;

const NAME = /^([0-9a-f]{16})\.(0|[1-9]\d{0,14})$/;
const REVISION = /^([0-9a-f]{16})\.([1-9]\d{0,14})\.(\d{1,20})$/;
/** What a copy may hold of a chain that was deleted meanwhile. */
const WITHOUT_BYTES = /^(?:life|[0-9a-f]{16}\.0)$/;
const NO_ENTRY_IS_NO_ERROR = { throwIfNoEntry: false } as const;

/** The directory of a key's chain; a key itself cannot contain an `@`. */
export function chainDirectory(base: string): string {
  return `${base}@`;
}

/** The last segment of the key whose chain a directory of this name holds; `null` for any other directory. */
export function chainNameOf(directoryName: string): string | null {
  return directoryName.endsWith("@") ? directoryName.slice(0, -1) : null;
}

/** @param inode of the file, so that no other file of the same name is taken for it. */
export function revisionOf({ life, generation, inode }: Place & { inode: number }): string {
  return `${life}.${generation}.${inode}`;
}

export function generationPath(base: string, { life, generation }: Place): string {
  return `${chainDirectory(base)}/${life}.${generation}`;
}

/** Whether a file is empty for good: no blob has it. */
export function isStub(stats: Stats): boolean {
  return stats.size === 0 && (stats.mode & 0o200) === 0;
}

function isWhole(stats: Stats): boolean {
  return stats.size > 0 || (stats.mode & 0o100) !== 0;
}

/** Looks at a generation's file; `undefined` where there is none. */
export function lookAt(base: string, place: Place): Stats | undefined {
  return lstatSync(generationPath(base, place), NO_ENTRY_IS_NO_ERROR);
}

/** The chain in its place; `null` where there is none. */
export function readChain(base: string): Chain | null {
  let names: string[];
  try {
    names = readdirSync(chainDirectory(base));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  }
  const found: Place[] = [];
  let anchor: Place | undefined;
  for (const name of names) {
    const [, life, number] = NAME.exec(name) ?? [];
    if (life === undefined) continue;
    const place = { life, generation: Number(number) };
    if (place.generation <= 1 && place.generation < (anchor?.generation ?? 2)) anchor = place;
    if (place.generation > 0) found.push(place);
  }
  found.sort((a, b) => b.generation - a.generation);
  const life = (anchor ?? found[0])?.life;
  const generations = found.filter((place) => place.life === life).map(({ generation }) => generation);
  if (life !== undefined && generations.length > 0) {
    return { life, generations, anchor: anchor?.generation ?? null };
  }
  if (names.every((name) => WITHOUT_BYTES.test(name))) removeEmptyChain(base, names);
  return null;
}

/** Removes what a copy left of a chain, so that its key is not listed. No chain in place is without a generation. */
function removeEmptyChain(base: string, names: readonly string[]): void {
  try {
    for (const name of names) unlinkSync(`${chainDirectory(base)}/${name}`);
    rmdirSync(chainDirectory(base));
  } catch (error) {
    // Another process was faster, or this one may only read. The key is absent either way.
    if (systemCode(error) === undefined) throw error;
  }
}

/** How {@link lookAtHead} gets at a file. */
export interface Look<T> {
  /** `undefined` where there is no such file. */
  open(path: string): { stats: Stats; opened: T } | undefined;
  /** Called for what was opened and is not the result. */
  close(opened: T): void;
}

/** Finds the blob that a chain ends in, and opens it; `null` where there is no chain. Rejects with `damaged`. */
export function lookAtHead<T>(base: string, look: Look<T>): (Head & { opened: T }) | null {
  let missed: string | undefined;
  for (;;) {
    const chain = readChain(base);
    if (chain === null) return null;
    const head = newestWhole(base, chain, look);
    if (head !== undefined) {
      if (isInPlace(base, chain, head)) return head;
      look.close(head.opened);
    }
    // Deleted or replaced meanwhile. Nothing but damage makes the same chain fail twice.
    const place = `${chain.life}.${chain.generations[0]}`;
    if (place === missed) {
      throw new ServiceError("damaged", `No file in ${chainDirectory(base)} has the blob's bytes`);
    }
    missed = place;
  }
}

/** The newest generation that has its bytes; else the newest that is empty without being a stub. */
function newestWhole<T>(
  base: string,
  { life, generations }: Chain,
  look: Look<T>,
): (Head & { opened: T }) | undefined {
  let top: SeenFile | undefined;
  let empty: (Head & { opened: T }) | undefined;
  for (const generation of generations) {
    const seen = look.open(generationPath(base, { life, generation }));
    if (seen === undefined) {
      // The highest goes with its chain, or when it was superseded: look again. Lower ones are superseded.
      if (top === undefined) return undefined;
      continue;
    }
    const { stats, opened } = seen;
    top ??= { generation, inode: stats.ino };
    const head = { life, generation, inode: stats.ino, size: stats.size, top, opened };
    if (isWhole(stats)) {
      if (empty !== undefined) look.close(empty.opened);
      return head;
    }
    if (isStub(stats) || empty !== undefined) look.close(opened);
    else empty = head;
  }
  return empty;
}

/** Whether a generation that was just seen is of the chain in place: another life may hold a slow writer's link. */
function isInPlace(base: string, { life, anchor }: Chain, { generation }: Head): boolean {
  return (
    generation === 1 || anchor === null || existsSync(generationPath(base, { life, generation: anchor }))
  );
}

const LOOK_ONLY: Look<null> = {
  open(path) {
    const stats = lstatSync(path, NO_ENTRY_IS_NO_ERROR);
    return stats === undefined ? undefined : { stats, opened: null };
  },
  close: () => undefined,
};

/** The blob as it is now; `null` where there is none. */
export function findHead(base: string): Head | null {
  return lookAtHead(base, LOOK_ONLY);
}

/** What tells whether a revision is a chain's last. */
export interface Probe {
  path: string;
  successor: string;
  inode: number;
}

/** `null` for a text that is no revision. */
export function probeOf(base: string, revision: string): Probe | null {
  const [, life, number, inode] = REVISION.exec(revision) ?? [];
  if (life === undefined) return null;
  const generation = Number(number);
  return {
    path: generationPath(base, { life, generation }),
    successor: generationPath(base, { life, generation: generation + 1 }),
    inode: Number(inode),
  };
}

/** Whether a chain in its place still ends in the revision. */
export function isHead({ path, successor, inode }: Probe): boolean {
  // In this order, see above.
  if (existsSync(successor)) return false;
  const stats = lstatSync(path, NO_ENTRY_IS_NO_ERROR);
  return stats !== undefined && stats.ino === inode && !isStub(stats);
}
