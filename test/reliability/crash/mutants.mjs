// Stores that break one promise each, to prove that the tests' checks find it.
import { link, open } from "node:fs/promises";
import { createFsBlobStore } from "@outrigger/core";

const MUTANTS = {
  "record before the bytes": (directory) => bytesAfterTheRecord(createFsBlobStore({ directory }), 0),
  "record before the last bytes": (directory) => bytesAfterTheRecord(createFsBlobStore({ directory }), 0.5),
  "acknowledged before it is written": (directory) => writesLate(createFsBlobStore({ directory })),
  "removes only the bytes": (directory) => keepsRecords(createFsBlobStore({ directory })),
  "deaf to a failed flush": (directory) =>
    createFsBlobStore({ directory }, { ...files, sync: (file) => file.sync().catch(() => {}) }),
  "tries a failed flush again": (directory) =>
    createFsBlobStore({ directory }, { ...files, sync: (file) => file.sync().catch(() => file.sync()) }),
};

const files = {
  sync: (file) => file.sync(),
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

export function createMutant(name, directory) {
  const create = MUTANTS[name];
  if (create === undefined) throw new Error(`No mutant is called ${name}`);
  return create(directory);
}

/** `share` of an original's bytes is stored before its record, the rest after it. */
function bytesAfterTheRecord(store, share) {
  const waiting = new Map();
  return {
    ...store,
    async adopt(key, path, options) {
      const second = `${path}.second`;
      await link(path, second);
      waiting.set(key, second);
      if (share === 0) return { size: 0, revision: "none" };
      const file = await open(path);
      try {
        const { size } = await file.stat();
        const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.floor(size * share)));
        return await store.put(key, buffer.subarray(0, bytesRead), options);
      } finally {
        await file.close();
      }
    },
    async put(key, body, options) {
      const info = await store.put(key, body, options);
      const original = key.replace(/record$/, "original");
      const path = waiting.get(original);
      if (path === undefined) return info;
      waiting.delete(original);
      await store.adopt(original, path);
      return info;
    },
  };
}

function writesLate(store) {
  return {
    ...store,
    async put(key, body, options) {
      if (!key.endsWith("/record")) return store.put(key, body, options);
      void store.put(key, body, options);
      return { size: body.length, revision: "to come" };
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
