import type { StorageDescription, StoreDescription } from "./open-storage.mjs";

/** The environment variables that describe a storage to `outrigger`. */
export function environmentOf({ records, pictures }: StorageDescription): Record<string, string> {
  const storage =
    pictures === undefined
      ? urlOf(records)
      : JSON.stringify({
          records: urlOf(records),
          originals: urlOf(pictures),
          renditions: urlOf(pictures),
        });
  return { OUTRIGGER_STORAGE: storage, ...keysOf(records), ...keysOf(pictures) };
}

/** A busy machine delays servers. */
const TIMEOUT = "timeoutMs=10000";

function urlOf(store: StoreDescription): string {
  switch (store.kind) {
    case "file":
      return `file:${store.directory}`;
    case "postgres":
    case "redis":
      // Several addresses, separated by commas: a cluster.
      return `${store.url}?prefix=${store.prefix}&${TIMEOUT}`;
    case "s3":
      return `s3://${store.bucket}/${store.prefix}?endpoint=${store.endpoint}&${TIMEOUT}`;
  }
}

function keysOf(store: StoreDescription | undefined): Record<string, string> {
  if (store?.kind !== "s3") return {};
  const { accessKeyId, secretAccessKey } = store.credentials;
  return { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
}
