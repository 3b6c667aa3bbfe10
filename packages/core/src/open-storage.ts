// Storage by its URL, in an app and in the command. An entry of its own, which names no driver to a bundler.
export { type Drivers, openStorage, openTarget, openTargets } from "./stores/urls/open-storage.ts";
export { JOB_QUEUE_URL, parseJobQueueUrl, parseRedisUrl } from "./stores/urls/parse-redis-url.ts";
export { parseStorageUrl } from "./stores/urls/parse-storage-url.ts";
export type * from "./stores/urls/storage-target.ts";
export { distinctTargets, isShared, ROLES } from "./stores/urls/storage-target.ts";
export { parseStorage, type StorageUrls } from "./stores/urls/storage-urls.ts";
