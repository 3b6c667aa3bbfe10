/** @import { Readable } from "node:stream" */

/**
 * The options of a contestant. Each kind lists the options that it needs.
 * @typedef {object} StoreOptions
 * @property {string} [url] Of a Redis server.
 * @property {string} [bucket]
 * @property {string} [endpoint]
 * @property {{ accessKeyId: string, secretAccessKey: string }} [credentials]
 * @property {string} [directory] An existing directory of its own.
 */

/**
 * A contestant that stores bytes.
 * @typedef {object} Keeper
 * @property {(key: string, body: Buffer | Readable) => Promise<unknown>} put Stores a new key. A stream's
 *   length is not known beforehand.
 * @property {(key: string) => Promise<Buffer | AsyncIterable<Buffer>>} get Up to a MiB as a Buffer, else as a stream.
 * @property {(key: string) => Promise<unknown>} remove
 * @property {() => Promise<unknown>} close
 */

// Loaded on demand: no contestant carries the modules of another.
export const KEEPERS = {
  /** Our store on a Redis server. Needs `url`. */
  "outrigger-redis": open(() => import("./outrigger.mjs"), "inRedis"),
  /** Our store in a bucket. Needs `bucket`, `endpoint`, `credentials`. */
  "outrigger-s3": open(() => import("./outrigger.mjs"), "inS3"),
  /** Our store in a directory. Needs `directory`. */
  "outrigger-directory": open(() => import("./outrigger.mjs"), "inDirectory"),
  /** `@redis/client`: SET and GET, large bodies in pieces. Needs `url`. */
  "redis-client": open(() => import("./redis-client.mjs"), "openRedisClient"),
  /** `@aws-sdk/client-s3`: PutObject and GetObject. Needs `bucket`, `endpoint`, `credentials`. */
  "s3-client": open(() => import("./s3-client.mjs"), "openS3Client"),
  /** The same, with known stream lengths, sending them as they arrive. */
  "s3-client-lengths": open(() => import("./s3-client.mjs"), "openS3ClientWithLengths"),
  /** `node:fs`, synced. Needs `directory`. */
  files: open(() => import("./files.mjs"), "openFiles"),
};

/** @typedef {keyof typeof KEEPERS} KeeperKind */

/**
 * @template {string} Name
 * @param {() => Promise<Record<Name, (options: StoreOptions) => Promise<Keeper>>>} load
 * @param {Name} name
 * @returns {(options: StoreOptions) => Promise<Keeper>}
 */
function open(load, name) {
  return async (options) => (await load())[name](options);
}

/**
 * @template {keyof StoreOptions} Name
 * @param {StoreOptions} options
 * @param {Name} name
 * @returns {NonNullable<StoreOptions[Name]>}
 */
export function required(options, name) {
  const value = options[name];
  if (value === undefined) throw new TypeError(`This contestant needs the option ${name}`);
  return value;
}
