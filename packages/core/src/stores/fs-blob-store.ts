import { constants, mkdirSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import type {
  BlobInfo,
  BlobStore,
  LocalFileStore,
  PutOptions,
  RevisionProbe,
  SecretKeeper,
  SpoolingStore,
} from "../contracts/blob-store.ts";
import { isBlobKey } from "../contracts/blob-store.ts";
import { ServiceError } from "../errors.ts";
import { createChains } from "./fs-chain.ts";
import { mapped, storeError } from "./fs-errors.ts";
import { type FileSystem, nodeFiles } from "./fs-files.ts";
import { findHead, generationPath, isHead } from "./fs-generations.ts";
import { listKeys } from "./fs-list.ts";
import { claimTemporaryDirectory } from "./fs-processes.ts";
import { openBlob } from "./fs-read.ts";
import { readOrCreateSecret } from "./fs-secret.ts";
import { flush, writeTemporary } from "./fs-write.ts";

export interface FsBlobStoreOptions {
  /** Made where it is missing, for this user alone. Many processes may share it; its file system must have hard links. */
  directory: string;
}

export type FsBlobStore = BlobStore & SpoolingStore & LocalFileStore & RevisionProbe & SecretKeeper;

/**
 * Blobs as files. What was acknowledged survives a power cut: bytes are flushed before they get their name, and the name
 * before the promise resolves. How conditional writes stay exact without locks is told in fs-generations.ts.
 * @param files for tests of its faults.
 * @throws ServiceError `store_unavailable` where the directory cannot be used.
 */
export function createFsBlobStore(options: FsBlobStoreOptions, files: FileSystem = nodeFiles): FsBlobStore {
  if (typeof options.directory !== "string" || options.directory === "") {
    throw new TypeError("directory must be the path of a directory");
  }
  const directory = resolve(options.directory);
  const blobs = join(directory, "blobs");
  const temporary = claim(directory, blobs);
  const chains = createChains(blobs, temporary, files);
  let isClosed = false;

  function baseOf(key: string): string {
    if (!isBlobKey(key)) throw new ServiceError("bad_request", "Not a key of this store");
    if (isClosed) throw new ServiceError("store_unavailable", "The store is closed");
    return join(blobs, shardOf(key), key);
  }

  /** Makes a flushed file the blob of a key. */
  async function publish(base: string, path: string, { ifRevision, signal }: PutOptions): Promise<BlobInfo> {
    for (;;) {
      signal?.throwIfAborted();
      const head = findHead(base);
      if (ifRevision !== undefined && ifRevision !== (head?.revision ?? null)) {
        throw new ServiceError("conflict", "The blob is not at the revision that the write expects");
      }
      const appended = await chains.append(base, path, head);
      if (appended === null) continue;
      if (head !== null) await chains.replaceByStub(base, head.generation);
      return { size: appended.size, revision: appended.revision };
    }
  }

  return {
    spoolDirectory: temporary,
    put: (key, body, options = {}) =>
      mapped(async () => {
        try {
          const base = baseOf(key);
          options.signal?.throwIfAborted();
          const path = await writeTemporary(temporary, body, files, options.signal);
          try {
            return await publish(base, path, options);
          } finally {
            await rm(path, { force: true });
          }
        } finally {
          if (body instanceof Readable) body.destroy();
        }
      }),
    adopt: (key, path, options = {}) =>
      mapped(async () => {
        const base = baseOf(key);
        options.signal?.throwIfAborted();
        const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW);
        try {
          await flush(file, files);
        } finally {
          await file.close();
        }
        return publish(base, path, options);
      }),
    get: (key, options = {}) => mapped(async () => openBlob(baseOf(key), options)),
    stat: (key) =>
      mapped(async () => {
        const head = findHead(baseOf(key));
        return head === null ? null : { size: head.size, revision: head.revision };
      }),
    delete: (key) => mapped(async () => chains.remove(baseOf(key))),
    list: (prefix, options = {}) =>
      mapped(async () => {
        // A prefix is a key with a slash behind; the empty one stands for all.
        if (prefix !== "") baseOf(prefix.endsWith("/") ? prefix.slice(0, -1) : "");
        return listKeys(blobs, prefix, shardOf(prefix), options);
      }),
    localPath: (key) =>
      mapped(async () => {
        const base = baseOf(key);
        const head = findHead(base);
        return head === null ? null : generationPath(base, head.generation);
      }),
    isCurrent(key, revision) {
      try {
        return isHead(baseOf(key), revision);
      } catch {
        // A key or a disk that cannot be looked at: whoever asks `get` instead is told what is wrong.
        return false;
      }
    },
    localSecret: () => mapped(() => readOrCreateSecret(join(directory, "secret"), temporary, files)),
    async close() {
      isClosed = true;
    },
  };
}

/** Directories of bounded size at the top: the first characters of an image's ID are random. */
function shardOf(key: string): string {
  return key.split("/", 1)[0]?.slice(0, 2) ?? "";
}

/** Makes the directories and resolves to this process' own for temporary files. */
function claim(directory: string, blobs: string): string {
  try {
    mkdirSync(blobs, { recursive: true, mode: 0o700 });
    return claimTemporaryDirectory(join(directory, "tmp"));
  } catch (error) {
    throw storeError(error);
  }
}
