// @ts-check
import { createFsBlobStore } from "@outrigger/core";
import { createRedisBlobStore } from "@outrigger/redis";
import { createS3BlobStore } from "@outrigger/s3";
import { createSqlBlobStore } from "@outrigger/sql";

/** @typedef {import("@outrigger/core").BlobStore} BlobStore */

/**
 * Where pictures are, from one line of configuration: a URL for everything, or JSON with one for each role,
 * `{"records": "postgres://…", "originals": "s3://…", "renditions": "s3://…"}`.
 * @param {string} text
 * @returns {BlobStore | { records: BlobStore, originals: BlobStore, renditions: BlobStore }}
 */
export function openStorage(text) {
  if (!text.startsWith("{")) return openStore(text);
  const { records, originals, renditions } = JSON.parse(text);
  /** @type {Map<string, BlobStore>} The same URL twice is one store. */
  const stores = new Map();
  for (const url of [records, originals, renditions]) if (!stores.has(url)) stores.set(url, openStore(url));
  /** @param {string} url */
  const storeOf = (url) => /** @type {BlobStore} */ (stores.get(url)); // Just opened.
  return { records: storeOf(records), originals: storeOf(originals), renditions: storeOf(renditions) };
}

/**
 * @param {string} text `file:./pictures`, `redis://host:port`, `postgres://host/database` for records only, or `s3://bucket/prefix?endpoint=…&region=…`
 * @returns {BlobStore}
 */
function openStore(text) {
  if (text.startsWith("file:")) return createFsBlobStore({ directory: text.slice("file:".length) });
  if (/^rediss?:/.test(text)) return createRedisBlobStore({ url: text });
  if (/^postgres(ql)?:/.test(text)) return createSqlBlobStore({ url: text });
  if (text.startsWith("s3:")) return openBucket(new URL(text));
  // Not quoted: it may hold a password.
  throw new TypeError("STORAGE must be a URL that begins with file:, redis:, rediss:, postgres: or s3:");
}

/**
 * Keys are no part of the URL: they are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
 * @param {URL} url
 */
function openBucket({ host, pathname, searchParams }) {
  const path = pathname.replace(/^\/|\/$/g, "");
  const endpoint = searchParams.get("endpoint");
  const region = searchParams.get("region");
  return createS3BlobStore({
    bucket: host,
    ...(path === "" ? {} : { prefix: `${path}/` }),
    ...(endpoint === null ? {} : { endpoint }),
    ...(region === null ? {} : { region }),
  });
}
