import type { Accounts } from "./contracts/accounts.ts";
import type { BlobStore, ImageStorage } from "./contracts/blob-store.ts";
import type { Service } from "./contracts/call.ts";
import type { ContactSource } from "./contracts/contact-source.ts";
import type { KeyValue } from "./contracts/key-value.ts";
import type { Logger } from "./contracts/logger.ts";
import type { MailLists, MailProber } from "./contracts/mail-prober.ts";
import type { Observer } from "./contracts/observer.ts";
import type { Pages } from "./contracts/pages.ts";
import type { RateLimiter } from "./contracts/rate-limiter.ts";
import type { Renderer } from "./contracts/renderer.ts";
import type { SuppressionList } from "./contracts/suppression-list.ts";
import { either, type Rule, required, shape, value } from "./option-rules.ts";

// Contracts are checked by shape: a custom store, or one of another copy of this package or another realm, fits too.

export const service = shape<Service>(
  "a service with a method handle, such as createImages() and createLookup() return",
  "handle",
);
export const blobStore = shape<BlobStore>(
  "a blob store, such as createFsBlobStore({ directory }) returns",
  "put",
  "get",
  "stat",
  "delete",
  "list",
  "close",
);
const ROLES = {
  records: required(blobStore),
  originals: required(blobStore),
  renditions: required(blobStore),
};
export const imageStorage: Rule<ImageStorage> = either(
  "a blob store, such as createFsBlobStore({ directory }) returns, or { records, originals, renditions } of such stores",
  ROLES,
  blobStore,
);
export const renderer = shape<Renderer>(
  "a renderer, such as createRenderer() of @outrigger/imaging returns",
  "measure",
  "admit",
  "render",
  "close",
);
export const pages = shape<Pages>(
  "pages, such as createPages() of @outrigger/web returns",
  "upload",
  "viewer",
  "edit",
  "unlock",
  "problem",
  "asset",
);
export const logger = shape<Logger>(
  "a logger with the methods info, warn and error",
  "info",
  "warn",
  "error",
);
export const observer = shape<Observer>(
  "an observer, such as createMetrics() of @outrigger/telemetry returns",
  "observe",
  "served",
  "gauge",
);
export const rateLimiter = shape<RateLimiter>(
  "a rate limiter, such as createRedisRateLimiter({ url }) returns",
  "consume",
  "peek",
  "refund",
  "close",
);
export const keyValue = shape<KeyValue>("a key-value store such as a Keyv", "get", "set", "delete");
export const contactSource = shape<ContactSource>(
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
export const accounts = shape<Accounts>(
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
export const suppressionList = shape<SuppressionList>(
  "a suppression list, such as createSqlSuppressionList(database) returns",
  "add",
  "remove",
  "present",
  "count",
  "close",
);
export const mailProber = shape<MailProber>(
  "a mail prober, such as createMailProber() of @outrigger/verifier returns",
  "probe",
  "close",
);
export const mailLists = shape<MailLists>(
  "mail lists, such as createMailLists() of @outrigger/verifier returns",
  "isWebmail",
  "isDisposable",
  "suggestDomain",
);
export const abortSignal = shape<AbortSignal>(
  "an AbortSignal",
  "throwIfAborted",
  "addEventListener",
  "removeEventListener",
);

/** Any object that `for … of` accepts. A string is not one. */
export const iterable = <T>(what: string) =>
  value<Iterable<T>>(
    what,
    (given) => typeof given === "object" && given !== null && Symbol.iterator in given,
  );
