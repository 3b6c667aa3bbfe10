import { resolve } from "node:path";
import { checkOptions } from "../../check-options.ts";
import { type Options, required, text } from "../../option-rules.ts";
import { DirectoryStore, type FsBlobStore } from "./fs-directory-store.ts";
import { type FileSystem, nodeFiles } from "./fs-files.ts";

export type { FsBlobStore } from "./fs-directory-store.ts";

const RULES = {
  /**
   * Created if missing, accessible to this user only. Several processes may share it. Its file system must
   * support hard links and keep inode numbers stable.
   */
  directory: required(text("the path of a directory")),
};

export interface FsBlobStoreOptions extends Options<typeof RULES> {}

/**
 * Blobs as files. An acknowledged write survives a power cut: bytes are flushed before they get their name,
 * and the name is flushed before the promise resolves. fs-generations.ts describes how conditional writes
 * stay exact without locks. Replaced blobs keep their files until `removeSuperseded`, so a copy of the
 * running store is complete.
 * @throws ServiceError `store_unavailable` if the directory cannot be used.
 */
export function createFsBlobStore(options: FsBlobStoreOptions): FsBlobStore;
export function createFsBlobStore(options: FsBlobStoreOptions, files = nodeFiles): FsBlobStore {
  return openFsBlobStore(options, files);
}

/** Like {@link createFsBlobStore}. @param files Replaced in tests to inject faults. */
export function openFsBlobStore(options: FsBlobStoreOptions, files: FileSystem): FsBlobStore {
  const { directory } = checkOptions("createFsBlobStore", options, RULES);
  return new DirectoryStore(resolve(directory), files);
}
