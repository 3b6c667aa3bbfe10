// Stored images: read, list, write and end them without a service, for backup, migration, repair and diagnosis.
export { forEachAtOnce } from "./async/for-each-at-once.ts";
export type { StorageRoles } from "./contracts/blob-store.ts";
export { type ImageRecord, idOfRecord, keyOf, roleOf } from "./images/record/image-record.ts";
export { encodeRecord } from "./images/record/record-codec.ts";
export { bytesKeyOf, readEntry } from "./images/storage/stored-entry.ts";
export { StoredImages } from "./images/storage/stored-images.ts";
export type { StoreIdentity } from "./images/store/store-identity.ts";
export { readAll } from "./stores/blob-body.ts";
export { allPages } from "./stores/list-all.ts";
