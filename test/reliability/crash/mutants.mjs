// Stores that break one promise each, to prove that the tests' checks find it.
import { EventEmitter, once } from "node:events";
import { fsync } from "node:fs";
import { link, open, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { createFsBlobStore } from "@outrigger/core";

const MUTANTS = {
  "record before the bytes": (directory) => bytesAfterTheRecord(createFsBlobStore({ directory }), 0),
  "record before the last bytes": (directory) => bytesAfterTheRecord(createFsBlobStore({ directory }), 0.5),
  "acknowledged before it is written": (directory) => writesLate(createFsBlobStore({ directory })),
  "removes only the bytes": (directory) => keepsRecords(createFsBlobStore({ directory })),
  "deaf to a failed flush": (directory) =>
    createFsBlobStore({ directory }, { ...files, sync: (descriptor) => flush(descriptor).catch(() => {}) }),
  "tries a failed flush again": (directory) =>
    createFsBlobStore(
      { directory },
      { ...files, sync: (descriptor) => flush(descriptor).catch(() => flush(descriptor)) },
    ),
};

const flush = promisify(fsync);

const files = {
  sync: flush,
  async syncDirectory(path) {
    const directory = await open(path, "r");
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  },
  link,
};

/** The host emits `sent` here after each reply. */
export const replies = new EventEmitter();

export function createMutant(name, directory) {
  const create = MUTANTS[name];
  if (create === undefined) throw new Error(`No mutant is called ${name}`);
  return create(directory);
}

/** `share` of an original's bytes is stored before its record, the rest after it. */
function bytesAfterTheRecord(store, share) {
  return {
    ...store,
    async adoptTogether(prefix, { original: { path }, record }, options) {
      if (share > 0) {
        const bytes = await readFile(path);
        await store.put(`${prefix}original`, bytes.subarray(0, Math.floor(bytes.length * share)), options);
      }
      const first = await store.put(`${prefix}record`, record, options);
      return { record: first, original: await store.adopt(`${prefix}original`, path, options) };
    },
  };
}

function writesLate(store) {
  return {
    ...store,
    async adoptTogether(prefix, { original: { path }, record }, options) {
      const original = await store.adopt(`${prefix}original`, path, options);
      void once(replies, "sent").then(() => store.put(`${prefix}record`, record));
      return { original, record: { size: record.length, revision: "to come" } };
    },
  };
}

function keepsRecords(store) {
  return {
    ...store,
    async put(key, body, options) {
      if (!key.endsWith("/record") || JSON.parse(String(body)).gone === null)
        return store.put(key, body, options);
      return store.stat(key);
    },
  };
}
