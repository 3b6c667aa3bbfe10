import { either, nested, required, shape, value } from "./option-rules.ts";

// Contracts are checked by shape: a custom store, or one of another copy of this package or another realm, fits too.

export const service = shape(
  "a service with a method handle, such as createImages() and createLookup() return",
  "handle",
);
export const described = shape(
  "a service with a method describe, such as createImages() and createLookup() return",
  "describe",
);
export const blobStore = shape(
  "a blob store, such as createFsBlobStore({ directory }) returns",
  "put",
  "get",
  "stat",
  "delete",
  "list",
  "close",
);
const roles = nested({
  records: required(blobStore),
  originals: required(blobStore),
  renditions: required(blobStore),
});
export const imageStorage = either(
  "a blob store, such as createFsBlobStore({ directory }) returns, or { records, originals, renditions } of such stores",
  roles,
  blobStore,
);
export const renderer = shape(
  "a renderer, such as createRenderer() of @outrigger/imaging returns",
  "version",
  "measure",
  "admit",
  "render",
  "close",
);
export const pages = shape(
  "pages, such as createPages() of @outrigger/web returns",
  "upload",
  "viewer",
  "edit",
  "unlock",
  "problem",
  "reference",
  "asset",
);
export const logger = shape("a logger with the methods info, warn and error", "info", "warn", "error");
export const observer = shape(
  "an observer, such as createMetrics() of @outrigger/telemetry returns",
  "observe",
  "served",
  "gauge",
);
export const rateLimiter = shape(
  "a rate limiter, such as createRedisRateLimiter({ url }) returns",
  "consume",
  "peek",
  "refund",
  "close",
);
export const keyValue = shape("a key-value store such as a Keyv", "get", "set", "delete");
export const contactSource = shape(
  "a contact source, such as createSqlContactSource(database) returns",
  "domain",
  "domainOf",
  "search",
  "find",
  "findByName",
  "count",
  "erase",
  "eraseDomain",
  "close",
);
export const accounts = shape(
  "accounts, such as createSqlAccounts(database) returns",
  "create",
  "get",
  "findByKey",
  "reserve",
  "renew",
  "settle",
  "usage",
  "close",
);
export const suppressionList = shape(
  "a suppression list, such as createSqlSuppressionList(database) returns",
  "add",
  "remove",
  "present",
  "count",
  "close",
);
export const verificationQueue = shape(
  "a queue of verifications, such as createSqlVerificationQueue(database) returns",
  "add",
  "addSingle",
  "get",
  "rows",
  "take",
  "finish",
  "postpone",
  "erase",
  "removeBefore",
  "close",
);
export const mailProber = shape(
  "a mail prober, such as createMailProber() of @outrigger/verifier returns",
  "probe",
  "close",
);
export const mailLists = shape(
  "mail lists, such as createMailLists() of @outrigger/verifier returns",
  "isWebmail",
  "isDisposable",
  "suggestDomain",
);
export const abortSignal = shape(
  "an AbortSignal",
  "throwIfAborted",
  "addEventListener",
  "removeEventListener",
);

/** Any object that `for … of` accepts. A string is not one. */
export const iterable = (what: string) =>
  value(what, (given) => typeof given === "object" && given !== null && Symbol.iterator in given);
