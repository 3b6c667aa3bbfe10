import { readdirSync } from "node:fs";
import { openFsBlobStore } from "../src/stores/fs/fs-blob-store.ts";
import { type FileSystem, nodeFiles } from "../src/stores/fs/fs-files.ts";

/** A store on `directory` whose disk calls a test can replace. */
export function createFaultyStore(directory: string) {
  const files: FileSystem = { ...nodeFiles };
  const store = openFsBlobStore({ directory }, files);
  return { store, files, directory, temporary: () => readdirSync(store.spoolDirectory) };
}

/** Fails at one call only; calls are counted from 0. */
export function failAt(failing: number): FileSystem["syncDirectory"] {
  let calls = 0;
  return async (path) => {
    if (calls++ === failing) throw systemError("EIO", "fsync");
    await nodeFiles.syncDirectory(path);
  };
}

export function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: ${syscall}`), { code, syscall });
}
