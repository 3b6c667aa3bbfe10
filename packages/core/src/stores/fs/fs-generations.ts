import { existsSync, lstatSync, readdirSync, rmdirSync, type Stats, statSync, unlinkSync } from "node:fs";
import { ServiceError } from "../../errors.ts";
import { systemCode } from "./fs-files.ts";

/*
 * The blob of a key is a directory `<key>@`, its chain. It holds an empty file `<chain ID>.0`, the anchor, and
 * the generations `<chain ID>.1`, `<chain ID>.2`, …. The highest generation is the current blob. `<chain ID>` is a random
 * name, created with the directory.
 *
 * Create: make a directory with anchor and first generation elsewhere, then rename it to `<key>@`. The rename
 * fails if the key has a chain, so exactly one of several creators succeeds. Several chains likewise get their
 * names with the directory around them. An anchor gets into a chain in no other way, so it names the ID of the
 * current chain. An empty directory, which only a copy can leave, counts as no chain.
 *
 * Append: check that n is the highest; link the complete file as n+1; then check that n is still the same
 * file. Linking fails if the name exists, so exactly one of the writers that saw n succeeds. A writer may be
 * suspended for days between its check and its link:
 * - The chain was replaced by another chain. Then n is gone or is another file, and the writer removes its
 *   link.
 * - n+1 was taken, superseded and removed. Superseded generations are removed in ascending order, so n is
 *   gone.
 * - Otherwise n+1 was never taken before, and the write succeeded.
 * "The same file" means the same inode. The writer's own file is older than its check. So the inode of the
 * file that it checks, or of one that got a name since, is never that of another suspended writer's file.
 * A writer may also be suspended between its link and its second check. Generation n is not removed while n+1
 * has two names; the writer removes the first of them at its end. A process that is presumed dead loses that
 * name. Its link then counts only if it is the highest, which is impossible if n+1 was taken before.
 * A killed writer may leave a link in a chain of another chain. Readers ignore it; it is deleted with that
 * chain.
 *
 * Read: list the directory; open the highest generation n; for n > 1 check that the anchor exists. A listing
 * returns every entry that exists throughout, so n was the highest at some moment of it. The anchor proves
 * that n belongs to the current chain. `<chain ID>.1` needs no proof, since no append creates that name.
 *
 * Probe of a known revision n: check that n+1 does not exist, then that n is the same file. The second check
 * proves that n existed throughout. So at the first check n+1 had never been taken, rather than removed:
 * n was the highest. As long as the directory is then the same and its change time stays, no name was added or
 * removed in it, so one stat of it repeats the result. File systems count time in steps: a change time counts only once
 * it is older than a step, so that a later change would show.
 *
 * Remove superseded generations: each was below an intact generation of its chain, so removing it is correct
 * at any later time. No step creates a name, so a process that was suspended for days does no harm. See
 * fs-superseded.ts.
 *
 * Delete: rename the directory away. The key is absent in one step. The files are deleted afterwards; after a
 * crash, with the other temporary files.
 *
 * Copies: no file changes once it has its name, and superseded generations keep their bytes for hours. A copy
 * that lists a chain and reads the files later therefore gets an intact generation that was the highest since
 * the listing. A copy may lack the files of a chain that was deleted meanwhile: without any generation there
 * is no blob.
 *
 * Damage: an empty file is a blob only if it carries the mark below. A reader takes the newest intact
 * generation below an empty one; appends go above all existing names. A disk error is no reason to serve an
 * older generation: the error may pass, and meanwhile a deletion or a withholding would be undone.
 *
 * No process holds a lock, so a process that dies leaves none.
 */

/** A generation of a chain. */
export interface Version {
  chainId: string;
  generation: number;
}

/** A file that was found under its name. */
export interface SeenFile {
  generation: number;
  inode: number;
}

/** The current blob of a chain. */
export interface Head extends Version {
  inode: number;
  /** Length in bytes. */
  size: number;
  /** The highest existing name. It differs from the blob's own if that name's file is damaged. */
  top: SeenFile;
}

/** The generations of the current chain. */
export interface Chain {
  chainId: string;
  /** Highest first; at least one. */
  generations: number[];
  /** `false` in a copy that lacks it. */
  hasAnchor: boolean;
}

const NAME = /^([0-9a-f]{16})\.(0|[1-9]\d{0,14})$/;
const REVISION = /^([0-9a-f]{16})\.([1-9]\d{0,14})\.(\d{1,20})$/;
/** Files without bytes that a copy may hold of a chain that was deleted meanwhile. */
const WITHOUT_BYTES = /^[0-9a-f]{16}\.0$/;
/** Longer than the step in which any file system counts change times. */
const CHANGE_STEP_MS = 3_000;
const NO_ENTRY_IS_NO_ERROR = { throwIfNoEntry: false } as const;

/** The directory of a key's chain; a key itself cannot contain an `@`. */
export function chainDirectory(base: string): string {
  return `${base}@`;
}

/** Top directories of bounded size: the first characters of an image ID are random. */
export function shardOf(key: string): string {
  return key.slice(0, key[1] === "/" ? 1 : 2);
}

/** @param inode of the file, so that another file with the same name has another revision. */
export function revisionOf({ chainId, generation, inode }: Version & { inode: number }): string {
  return `${chainId}.${generation}.${inode}`;
}

export function generationPath(base: string, { chainId, generation }: Version): string {
  return `${chainDirectory(base)}/${chainId}.${generation}`;
}

function isWhole(stats: Stats): boolean {
  return stats.size > 0 || (stats.mode & 0o100) !== 0;
}

/** The file status of a generation; `undefined` if its file does not exist. */
export function statVersion(base: string, version: Version): Stats | undefined {
  return lstatSync(generationPath(base, version), NO_ENTRY_IS_NO_ERROR);
}

/** The current chain; `null` if there is none. */
export function readChain(base: string): Chain | null {
  let names: string[];
  try {
    names = readdirSync(chainDirectory(base));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  }
  const found: Version[] = [];
  let anchored: string | undefined;
  for (const name of names) {
    const [, chainId, number] = NAME.exec(name) ?? [];
    if (chainId === undefined) continue;
    const generation = Number(number);
    if (generation > 0) found.push({ chainId, generation });
    else anchored = chainId;
  }
  found.sort((a, b) => b.generation - a.generation);
  const chainId = anchored ?? found[0]?.chainId;
  const generations = found
    .filter((version) => version.chainId === chainId)
    .map(({ generation }) => generation);
  if (chainId !== undefined && generations.length > 0) {
    return { chainId, generations, hasAnchor: anchored !== undefined };
  }
  if (names.every((name) => WITHOUT_BYTES.test(name))) removeEmptyChain(base, names);
  return null;
}

/**
 * Deletes the remains of a copied chain, so that its key is not listed. A current chain always has a
 * generation.
 */
function removeEmptyChain(base: string, names: readonly string[]): void {
  try {
    for (const name of names) unlinkSync(`${chainDirectory(base)}/${name}`);
    rmdirSync(chainDirectory(base));
  } catch (error) {
    // Another process was faster, or this one may only read. The key is absent in both cases.
    if (systemCode(error) === undefined) throw error;
  }
}

/** How {@link openHead} opens a file. */
export interface FileOpener<T> {
  /** `undefined` if the file does not exist. */
  open(path: string): { stats: Stats; opened: T } | undefined;
  /** Called for every opened file that is not the result. */
  close(opened: T): void;
}

/** Finds and opens the current blob of a chain; `null` if there is no chain. Rejects with `damaged`. */
export function openHead<T>(base: string, opener: FileOpener<T>): (Head & { opened: T }) | null {
  let missed: string | undefined;
  for (;;) {
    const chain = readChain(base);
    if (chain === null) return null;
    const head = newestWhole(base, chain, opener);
    if (head !== undefined) {
      if (isOfCurrentChain(base, chain, head)) return head;
      opener.close(head.opened);
    }
    // Deleted or replaced meanwhile. Only damage makes the same chain fail twice.
    const highest = `${chain.chainId}.${chain.generations[0]}`;
    if (highest === missed) {
      throw new ServiceError("damaged", `No file in ${chainDirectory(base)} has the blob's bytes`);
    }
    missed = highest;
  }
}

/** The newest intact generation. */
function newestWhole<T>(
  base: string,
  { chainId, generations }: Chain,
  opener: FileOpener<T>,
): (Head & { opened: T }) | undefined {
  let top: SeenFile | undefined;
  for (const generation of generations) {
    const seen = opener.open(generationPath(base, { chainId, generation }));
    if (seen === undefined) {
      // The highest generation goes with its chain or when it is superseded, so list again. Lower generations
      // are superseded.
      if (top === undefined) return undefined;
      continue;
    }
    const { stats, opened } = seen;
    top ??= { generation, inode: stats.ino };
    if (isWhole(stats)) return { chainId, generation, inode: stats.ino, size: stats.size, top, opened };
    opener.close(opened);
  }
  return undefined;
}

/** Whether a generation just seen belongs to the current chain: another chain may hold a slow writer's link. */
function isOfCurrentChain(base: string, { chainId, hasAnchor }: Chain, { generation }: Head): boolean {
  return generation === 1 || !hasAnchor || existsSync(generationPath(base, { chainId, generation: 0 }));
}

const STAT_ONLY: FileOpener<null> = {
  open(path) {
    const stats = lstatSync(path, NO_ENTRY_IS_NO_ERROR);
    return stats === undefined ? undefined : { stats, opened: null };
  },
  close: () => undefined,
};

/** The current blob; `null` if there is none. */
export function findHead(base: string): Head | null {
  return openHead(base, STAT_ONLY);
}

/** The data to check whether a revision is the head of its chain. */
export interface Probe {
  directory: string;
  /** The directory when the revision was the head; `null`: not known, or changed a moment before. */
  unchanged: Pick<Stats, "ino" | "ctimeMs"> | null;
  path: string;
  successor: string;
  inode: number;
}

/** `null` for text that is not a revision. */
export function probeOf(base: string, revision: string): Probe | null {
  const [, chainId, number, inode] = REVISION.exec(revision) ?? [];
  if (chainId === undefined) return null;
  const generation = Number(number);
  return {
    directory: chainDirectory(base),
    unchanged: null,
    path: generationPath(base, { chainId, generation }),
    successor: generationPath(base, { chainId, generation: generation + 1 }),
    inode: Number(inode),
  };
}

/** Whether the revision is still the head of the current chain. */
export function isHead(probe: Probe): boolean {
  const directory = statSync(probe.directory, NO_ENTRY_IS_NO_ERROR);
  if (directory === undefined) return false;
  const { ino, ctimeMs } = directory;
  if (ctimeMs === probe.unchanged?.ctimeMs && ino === probe.unchanged.ino) return true;
  probe.unchanged = null;
  // In this order; see "Probe" above.
  if (existsSync(probe.successor)) return false;
  const stats = lstatSync(probe.path, NO_ENTRY_IS_NO_ERROR);
  if (stats === undefined || stats.ino !== probe.inode) return false;
  if (Date.now() - ctimeMs > CHANGE_STEP_MS) probe.unchanged = { ino, ctimeMs };
  return true;
}
