import { createClient } from "@keyv/redis";
// Loaded although unused: the cost of garbage collection depends on the heap, so all processes load the same modules.
import "@outrigger/redis";
import { required } from "./kinds.mjs";

/** @import { Keeper, StoreOptions } from "./kinds.mjs" */

const PIECE_BYTES = 512 * 1024;
/** Up to this size a value is one key. */
const WHOLE_BYTES = 1024 * 1024;
/** Pieces in flight at once. */
const WINDOW = 4;
const READ_AHEAD = 2;
/** Returns replies as Buffers. */
const AS_BYTES = { typeMapping: { 36: Buffer } };

/**
 * A careful developer's version: an existing key is not overwritten. Large bodies are sent in pieces so that neither
 * process holds them whole, and become visible with the last piece.
 * @param {StoreOptions} options
 * @returns {Promise<Keeper>}
 */
export async function openRedisClient(options) {
  const client = createClient({ url: required(options, "url") });
  await client.connect();
  /** @param {string[]} args @returns {Promise<Buffer | null>} */
  const get = (...args) => client.sendCommand(["GET", ...args], AS_BYTES);
  /** @param {string} key @param {Buffer} bytes */
  const create = async (key, bytes) => {
    const answer = await client.sendCommand(["SET", key, bytes, "NX"]);
    if (answer === null) throw new Error(`The key ${key} already exists`);
  };

  return {
    async put(key, body) {
      if (Buffer.isBuffer(body)) return create(key, body);
      /** @type {Promise<unknown>[]} */
      const sent = [];
      /** @type {Buffer[]} */
      let held = [];
      let heldBytes = 0;
      const flush = async (/** @type {number} */ bytes) => {
        const all = Buffer.concat(held, heldBytes);
        held = [all.subarray(bytes)];
        heldBytes -= bytes;
        sent.push(client.sendCommand(["SET", `${key}:${sent.length}`, all.subarray(0, bytes)]));
        await sent.at(-WINDOW);
      };
      for await (const chunk of body) {
        held.push(chunk);
        heldBytes += chunk.length;
        // A body that may still be small waits until its size is known.
        while (heldBytes > WHOLE_BYTES || (sent.length > 0 && heldBytes >= PIECE_BYTES))
          await flush(PIECE_BYTES);
      }
      if (sent.length === 0) return create(key, Buffer.concat(held, heldBytes));
      if (heldBytes > 0) await flush(heldBytes);
      await Promise.all(sent.slice(-WINDOW));
      return create(key, Buffer.from(`pieces:${sent.length}`));
    },

    async get(key) {
      const value = await get(key);
      if (value === null) throw new Error(`The key ${key} does not exist`);
      return value.length < 20 && value.toString("latin1", 0, 7) === "pieces:"
        ? piecesOf(get, key, Number(value.toString("latin1", 7)))
        : value;
    },

    async remove(key) {
      const value = await get(key);
      const text = value?.toString("latin1", 0, 20) ?? "";
      const count = text.startsWith("pieces:") ? Number(text.slice(7)) : 0;
      const pieces = Array.from({ length: count }, (_, index) => `${key}:${index}`);
      await client.sendCommand(["UNLINK", key, ...pieces]);
    },
    close: async () => client.destroy(),
  };
}

/**
 * @param {(key: string) => Promise<Buffer | null>} get
 * @param {string} key
 * @param {number} count
 */
async function* piecesOf(get, key, count) {
  /** @type {Promise<Buffer | null>[]} */
  const ahead = [];
  for (let next = 0; ; ) {
    while (ahead.length < READ_AHEAD && next < count) ahead.push(get(`${key}:${next++}`));
    const piece = await ahead.shift();
    if (piece === undefined) return;
    if (piece === null) throw new Error(`A piece of ${key} is missing`);
    yield piece;
  }
}
