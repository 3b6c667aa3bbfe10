import { createReadStream } from "node:fs";
import { link, mkdir, open, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
// Loaded although unused: the cost of garbage collection depends on the heap, so all processes load the same modules.
import "@outrigger/core";
import { required } from "./kinds.mjs";

/** @import { Keeper, StoreOptions } from "./kinds.mjs" */

const WHOLE_BYTES = 1024 * 1024;

/**
 * A careful developer's version: the file gets its name once all is on disk, and only if the name is free.
 * @param {StoreOptions} options
 * @returns {Promise<Keeper>}
 */
export async function openFiles(options) {
  const directory = required(options, "directory");
  const incoming = join(directory, "incoming");
  await mkdir(incoming);
  let last = 0;
  return {
    async put(key, body) {
      const path = join(directory, key);
      const temporary = join(incoming, String(++last));
      const file = await open(temporary, "wx");
      try {
        // Its types do not mention that it accepts streams.
        await file.writeFile(/** @type {Buffer} */ (body));
        await file.sync();
      } finally {
        await file.close();
      }
      await mkdir(dirname(path), { recursive: true });
      await link(temporary, path);
      await rm(temporary);
      await sync(dirname(path));
      await sync(directory);
    },
    async get(key) {
      const path = join(directory, key);
      const { size } = await stat(path);
      return size > WHOLE_BYTES ? createReadStream(path, { highWaterMark: 256 * 1024 }) : readFile(path);
    },
    remove: (key) => rm(dirname(join(directory, key)), { recursive: true }),
    close: async () => {},
  };
}

/** @param {string} directory */
async function sync(directory) {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
