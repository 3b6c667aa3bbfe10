// Opens stores from their description, in the child processes of a test and in the test itself.
import { createFsBlobStore } from "@outrigger/core";
import { createRedisBlobStore } from "@outrigger/redis";
import { createS3BlobStore } from "@outrigger/s3";
import { createSqlBlobStore } from "@outrigger/sql";

// A busy machine delays servers.
const TIMEOUT_MS = 10_000;
/** As short as possible: tests check for leftovers. */
const SUPERSEDED_MS = 1000;

const OPENERS = {
  file: createFsBlobStore,
  postgres: (database) => createSqlBlobStore({ timeoutMs: TIMEOUT_MS, ...database }),
  redis: (server) => createRedisBlobStore({ timeoutMs: TIMEOUT_MS, supersededMs: SUPERSEDED_MS, ...server }),
  s3: ({ prefix, ...bucket }) =>
    createS3BlobStore({ ...bucket, prefix: `${prefix}/`, timeoutMs: TIMEOUT_MS }),
};

export function openStorage({ records, pictures }) {
  const store = open(records);
  if (pictures === undefined) return store;
  const others = open(pictures);
  return { records: store, originals: others, renditions: others };
}

function open({ kind, ...options }) {
  return OPENERS[kind](options);
}
