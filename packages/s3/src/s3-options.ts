import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3";

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

/** Options with their defaults, checked. */
export interface S3Settings {
  bucket: string;
  prefix: string;
  timeoutMs: number;
  minBytesPerSecond: number;
  bufferBytes: number;
  /** `null`: the process' own below the system's directory for temporary files. */
  spoolDirectory: string | null;
}

const PREFIX = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*$/;
const CLIENT_OPTIONS = ["endpoint", "region", "credentials", "forcePathStyle", "maxSockets"] as const;

/** Throws a `TypeError` that tells what is wrong. */
export function settingsOf(options: S3BlobStoreOptions): S3Settings {
  const { bucket, prefix = "", client } = options;
  if (typeof bucket !== "string" || bucket === "")
    throw new TypeError("bucket must be the name of a bucket.");
  if (!PREFIX.test(prefix) || prefix.length > 150) {
    throw new TypeError(`prefix must be empty or end in "/", not ${JSON.stringify(prefix)}.`);
  }
  const ignored = CLIENT_OPTIONS.filter((name) => client !== undefined && options[name] !== undefined);
  if (ignored.length > 0)
    throw new TypeError(`Where client is given, it decides about ${ignored.join(", ")}.`);
  checkInteger("maxSockets", options.maxSockets ?? 100, 1, 10_000);
  return {
    bucket,
    prefix,
    timeoutMs: checkInteger("timeoutMs", options.timeoutMs ?? 2000, 50, 2 ** 31 - 1),
    minBytesPerSecond: checkInteger("minBytesPerSecond", options.minBytesPerSecond ?? 2 ** 20, 1, 2 ** 40),
    bufferBytes: checkInteger("bufferBytes", options.bufferBytes ?? 8 * 2 ** 20, 0, 2 ** 30),
    spoolDirectory: options.spoolDirectory ?? null,
  };
}

function checkInteger(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new TypeError(`${name} must be an integer from ${min} to ${max}, not ${value}.`);
}
