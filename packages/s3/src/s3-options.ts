import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3";
import { type Checked, checkOptions, type RuleTable, rules } from "@outrigger/core/stores";

export interface S3BlobStoreOptions {
  /** An existing bucket, whose listings are in the order of keys (all but AWS directory buckets). */
  bucket: string;
  /**
   * What every object's key begins with: empty, or segments of letters, digits, `.`, `_` and `-`, each followed by `/`; at most
   * 150 characters. Stores with different prefixes share a bucket and have nothing in common. @default ""
   */
  prefix?: string;
  /** A client of your own, which the store never closes and whose settings it leaves alone; instead of the next five options. @default one of its own */
  client?: S3Client;
  /** URL of the service. @default Amazon's for the region */
  endpoint?: string;
  /** Where the bucket is. @default `us-east-1` where there is an `endpoint`; otherwise what the SDK finds */
  region?: string;
  /** Keys, or a function that provides them. @default what the SDK finds: environment, profile, role of the machine */
  credentials?: NonNullable<S3ClientConfig["credentials"]>;
  /** Whether the bucket is a part of the path and not of the host's name. @default whether there is an `endpoint` */
  forcePathStyle?: boolean;
  /** Connections at a time, 1 to 10000. @default 100 */
  maxSockets?: number;
  /**
   * How long the service may make no progress, in milliseconds from 50. A call takes at most about twice that when the service
   * is silent. @default 2000
   */
  timeoutMs?: number;
  /** The slowest line that a body may be sent over, in bytes per second from 1; slower ones time out. @default 1_048_576 (1 MiB) */
  minBytesPerSecond?: number;
  /** Bytes of a stream that are kept in memory before it goes by way of a file, 0 to 2^30. @default 8_388_608 (8 MiB) */
  bufferBytes?: number;
  /**
   * Existing directory for those files. They have no names and vanish with the process. @default the system's for temporary files
   */
  spoolDirectory?: string;
}

const PREFIX = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*$/;
const CLIENT_OPTIONS = ["endpoint", "region", "credentials", "forcePathStyle", "maxSockets"] as const;

const RULES = {
  bucket: rules.required(rules.text("the name of a bucket")),
  prefix: rules.preset(
    "",
    rules.text('empty or segments that end in "/", of at most 150 characters', (prefix) => {
      return PREFIX.test(prefix) && prefix.length <= 150;
    }),
  ),
  client: rules.shape("an S3Client of @aws-sdk/client-s3", "send"),
  endpoint: rules.text("an absolute http(s) URL", isHttpUrl),
  region: rules.text("the name of a region"),
  credentials: rules.value("credentials, or a function that provides them", isObjectOrFunction, true),
  forcePathStyle: rules.flag(),
  maxSockets: rules.preset(100, rules.whole(1, 10_000)),
  timeoutMs: rules.preset(2000, rules.whole(50, 2 ** 31 - 1)),
  minBytesPerSecond: rules.preset(2 ** 20, rules.whole(1, 2 ** 40)),
  bufferBytes: rules.preset(8 * 2 ** 20, rules.whole(0, 2 ** 30)),
  spoolDirectory: rules.text("the path of a directory"),
} satisfies RuleTable<S3BlobStoreOptions>;

/** {@link S3BlobStoreOptions}, checked and with their defaults. */
export type S3Settings = Checked<S3BlobStoreOptions, typeof RULES>;

/** Throws a `TypeError` that names the wrong option and says what it must be. */
export function settingsOf(options: S3BlobStoreOptions): S3Settings {
  const settings = checkOptions("createS3BlobStore", options, RULES);
  const ignored = CLIENT_OPTIONS.filter(
    (name) => settings.client !== undefined && options[name] !== undefined,
  );
  if (ignored.length > 0) {
    throw new TypeError(
      `createS3BlobStore: client decides about ${ignored.join(", ")}: leave out one or the other`,
    );
  }
  return settings;
}

function isHttpUrl(given: string): boolean {
  return URL.canParse(given) && /^https?:$/.test(new URL(given).protocol);
}

function isObjectOrFunction(given: unknown): boolean {
  return typeof given === "function" || (typeof given === "object" && given !== null);
}
