import { existsSync, rmSync, statSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { LRUCache } from "lru-cache";
import { checkOptions } from "../../check-options.ts";
import type {
  BlobInfo,
  BlobStore,
  BulkRemoval,
  JointAdoption,
  LocalStore,
  NewContent,
  PutOptions,
  RangeListing,
  RevisionProbe,
  ShardSampler,
} from "../../contracts/blob-store.ts";
import type { DueIndex } from "../../contracts/due-index.ts";
import { ServiceError } from "../../errors.ts";
import { type RuleTable, required, text } from "../../option-rules.ts";
import { checkBlobKey, checkListing, checkSegment, MAX_PAGE } from "../argument-checks.ts";
import { createFsBulkRemoval } from "./fs-bulk-removal.ts";
import { createChains } from "./fs-chain.ts";
import { createFsDueIndex } from "./fs-due-index.ts";
import { makeDirectories } from "./fs-durable-directories.ts";
import { createEmptyFiles } from "./fs-empty-files.ts";
import { mapped, storeError } from "./fs-errors.ts";
import { type FileSystem, nodeFiles } from "./fs-files.ts";
import {
  chainDirectory,
  findHead,
  generationPath,
  type Head,
  isHead,
  type Place,
  type Probe,
  probeOf,
  revisionOf,
} from "./fs-generations.ts";
import { fsShards, listKeyRange, listKeys, shardOf } from "./fs-list.ts";
import { claimTemporaryDirectory, type TemporaryDirectory } from "./fs-processes.ts";
import { openBlob } from "./fs-read.ts";
import { readOrCreateSecret, readSecret } from "./fs-secret.ts";
import { createSupersededIndex } from "./fs-superseded.ts";
import { type NewFile, openSpooled, writeTemporary } from "./fs-write.ts";

export interface FsBlobStoreOptions {
  /**
   * Created if missing, accessible to this user only. Several processes may share it. Its file system must
   * support hard links and keep inode numbers stable.
   */
  directory: string;
}

const RULES = {
  directory: required(text("the path of a directory")),
} satisfies RuleTable<FsBlobStoreOptions>;

const MAX_PROBES = 10_000;

/** Losing a race this often means that the cause is not other writers. */
const MAX_ATTEMPTS = 1000;

export type FsBlobStore = BlobStore &
  LocalStore &
  JointAdoption &
  RevisionProbe &
  DueIndex &
  BulkRemoval &
  RangeListing &
  ShardSampler;

/**
 * Blobs as files. An acknowledged write survives a power cut: bytes are flushed before they get their name,
 * and the name is flushed before the promise resolves. fs-generations.ts describes how conditional writes
 * stay exact without locks. Replaced blobs keep their files until `removeSuperseded`, so a copy of the
 * running store is complete.
 * @param files replaced in tests to inject faults.
 * @throws ServiceError `store_unavailable` if the directory cannot be used.
 */
export function createFsBlobStore(options: FsBlobStoreOptions, files: FileSystem = nodeFiles): FsBlobStore {
  const checked = checkOptions("createFsBlobStore", options, RULES);
  const directory = resolve(checked.directory);
  const blobs = join(directory, "blobs");
  const secretPath = join(directory, "secret");
  const claimed = claim(directory, blobs);
  const temporary = () => claimed.path();
  const empties = createEmptyFiles(directory, temporary);
  const superseded = createSupersededIndex(directory, blobs, empties);
  const chains = createChains({ root: blobs, temporary, files, empties, superseded });
  const due = createFsDueIndex(directory, empties, files);
  const removeFrom = createFsBulkRemoval(blobs, temporary, files);
  const probes = new LRUCache<string, Probe & { key: string }>({ max: MAX_PROBES });
  let isClosed = false;

  function checkOpen(): void {
    if (isClosed) throw new ServiceError("store_unavailable", "The store is closed");
  }

  /** Rejects if the directory is gone, for example with its volume: then no blob can be found. */
  function checkDirectory(): void {
    if (existsSync(blobs)) return;
    try {
      statSync(blobs);
    } catch (cause) {
      throw new ServiceError("store_unavailable", `The data directory is gone: no ${blobs}`, { cause });
    }
  }

  /** The result for a key; `null` and `false` only if the directory exists. */
  function found<T>(result: T): T {
    if (result === null || result === false) checkDirectory();
    return result;
  }

  function baseOf(key: string): string {
    checkBlobKey(key);
    checkOpen();
    return `${blobs}/${shardOf(key)}/${key}`;
  }

  /** Cached: a client that revalidates once usually does so on every request. Revisions are unique, so no entry goes stale. */
  function probeFor(key: string, revision: string): Probe | null {
    const known = probes.get(revision);
    if (known?.key === key && !isClosed) return known;
    const probe = probeOf(baseOf(key), revision);
    if (probe !== null) probes.set(revision, { key, ...probe });
    return probe;
  }

  function whileOpen<T>(work: () => Promise<T>): Promise<T> {
    return mapped(async () => {
      checkOpen();
      checkDirectory();
      return work();
    });
  }

  /** The blob that a write would replace, if its condition holds. */
  function headFor(base: string, { ifRevision, signal }: PutOptions): Head | null {
    signal?.throwIfAborted();
    const head = found(findHead(base));
    if (ifRevision === undefined || ifRevision === (head === null ? null : revisionOf(head))) return head;
    throw new ServiceError("conflict", "The blob is not at the revision that the write expects");
  }

  /** Makes a new file the current blob of a key, and closes the file. */
  async function publish(base: string, file: NewFile, options: PutOptions): Promise<BlobInfo> {
    try {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const head = headFor(base, options);
        const place =
          head === null
            ? await chains.create(base, file, options.mayBeLost ?? false)
            : await chains.append(base, file, head, options);
        if (place !== null) {
          return infoOf(file, place);
        }
        // A cleaner deleted the file before it got its name.
        statSync(file.path);
      }
    } finally {
      await file.close();
    }
    const message = `The blob cannot be written: ${chainDirectory(base)} is in the way`;
    throw new ServiceError("store_unavailable", message);
  }

  async function openNew(content: NewContent, signal: AbortSignal | undefined): Promise<NewFile> {
    return "path" in content
      ? openSpooled(content.path, files)
      : writeTemporary(temporary(), content, files, signal);
  }

  return {
    get spoolDirectory() {
      return temporary();
    },
    put: (key, body, options = {}) =>
      mapped(async () => {
        // Until `pipeline` attaches its listener, an error of the body would be unhandled and end the
        // process.
        if (body instanceof Readable) body.on("error", () => undefined);
        try {
          const base = baseOf(key);
          // An early check that saves a useless write; `publish` checks again.
          headFor(base, options);
          const file = await writeTemporary(temporary(), body, files, options.signal);
          try {
            return await publish(base, file, options);
          } finally {
            // A file that cannot be deleted goes with the other temporary files at the next start. The blob
            // is not affected.
            await unlink(file.path).catch(() => undefined);
          }
        } finally {
          if (body instanceof Readable) body.destroy();
        }
      }),
    adopt: (key, path, options = {}) =>
      mapped(async () => {
        const base = baseOf(key);
        headFor(base, options);
        return publish(base, openSpooled(path, files), options);
      }),
    adoptTogether<Name extends string>(
      prefix: string,
      blobs: Record<Name, NewContent>,
      { signal }: Pick<PutOptions, "signal"> = {},
    ) {
      return mapped(async () => {
        const names = Object.keys(blobs) as Name[]; // Its own keys.
        checkListing(prefix, MAX_PAGE);
        for (const segment of [prefix.slice(0, -1), ...names]) checkSegment(segment);
        const directory = baseOf(prefix.slice(0, -1));
        signal?.throwIfAborted();
        const opened: { name: Name; file: NewFile }[] = [];
        try {
          for (const name of names) opened.push({ name, file: await openNew(blobs[name], signal) });
          const places = await chains.createTogether(directory, opened, signal);
          const infos = places.map(({ name, file, place }) => [name, infoOf(file, place)]);
          return Object.fromEntries(infos) as Record<Name, BlobInfo>; // One for each name.
        } catch (error) {
          for (const { file } of opened) rmSync(file.path, { force: true });
          throw error;
        } finally {
          for (const { file } of opened) await file.close();
        }
      });
    },
    get: (key, options = {}) => mapped(async () => found(await openBlob(baseOf(key), options))),
    stat: (key) =>
      mapped(async () => {
        const head = found(findHead(baseOf(key)));
        return head === null ? null : { size: head.size, revision: revisionOf(head) };
      }),
    delete: (key) => mapped(async () => found(await chains.remove(baseOf(key)))),
    removeNamed: (prefix, names) =>
      mapped(async () => {
        checkDirectory();
        for (const name of names) checkBlobKey(prefix + name);
        // The prefix without its slash is also a key.
        await removeFrom(baseOf(prefix.slice(0, -1)), names);
      }),
    shards: () => fsShards(blobs),
    list: (prefix, options = {}) => whileOpen(() => listKeys(blobs, prefix, options)),
    listRange: (range, options = {}) => whileOpen(() => listKeyRange(blobs, range, options)),
    blobDirectory: blobs,
    localPath: (key) =>
      mapped(async () => {
        const base = baseOf(key);
        const head = found(findHead(base));
        return head === null ? null : generationPath(base, head);
      }),
    isCurrent(key, revision) {
      try {
        const probe = probeFor(key, revision);
        return probe !== null && isHead(probe);
      } catch {
        // The key or the disk cannot be read: `get` rejects with the reason.
        return false;
      }
    },
    secretPath,
    localSecret: () => whileOpen(() => readOrCreateSecret(secretPath, temporary(), files)),
    readLocalSecret: () => whileOpen(() => readSecret(secretPath)),
    removeSuperseded: (beforeMs, mayGoOn) => whileOpen(() => superseded.removeSuperseded(beforeMs, mayGoOn)),
    addDue: (list, entry, signal) => whileOpen(() => due.addDue(list, entry, signal)),
    removeDue: (list, entry) => whileOpen(() => due.removeDue(list, entry)),
    listDue: (list, untilMs, limit) => whileOpen(() => due.listDue(list, untilMs, limit)),
    async close() {
      if (!isClosed) claimed.release();
      isClosed = true;
    },
  };
}

function infoOf({ size, inode }: NewFile, place: Place): BlobInfo {
  return { size, revision: revisionOf({ ...place, inode }) };
}

/** Creates the directories, and returns this process's directory for temporary files. */
function claim(directory: string, blobs: string): TemporaryDirectory {
  try {
    for (const made of [blobs, join(directory, "superseded")]) makeDirectories(made);
    return claimTemporaryDirectory(join(directory, "tmp"), blobs);
  } catch (error) {
    throw storeError(error);
  }
}
