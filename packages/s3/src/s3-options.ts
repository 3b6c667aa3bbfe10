import { checkOptions, rules } from "@outrigger/core/stores";
import { parsedUrl } from "@outrigger/core/values";

/**
 * An `S3Client` of `@aws-sdk/client-s3`. These declarations name no type of the SDK, so that they compile where this
 * optional peer is not installed.
 */
export interface S3Sender {
  send(command: never): Promise<unknown>;
  destroy(): void;
}

/** Conditional writes that a service supports. */
export interface S3Capabilities {
  /**
   * Whether it can create an object only if none exists (`If-None-Match: *`). Records and originals need
   * this.
   */
  conditionalCreate: boolean;
  /** Whether it can replace an object only if it is unchanged (`If-Match`). Records need this. */
  compareAndSet: boolean;
  /**
   * Present if a condition is not supported and the bucket has or once had versioning: Ceph 16 ignores conditions
   * in such buckets and honours them in others.
   */
  versioned?: true;
}

/** Access keys, as the SDK takes them. */
export type S3Credentials = Readonly<
  Record<"accessKeyId" | "secretAccessKey", string> & { sessionToken?: string; expiration?: Date }
>;
const PREFIX = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*$/;
const CLIENT_OPTIONS = ["endpoint", "region", "credentials", "forcePathStyle"] as const;
const BUFFER_BYTES = 8 * 2 ** 20;

const RULES = {
  /** Name of an existing bucket, not an AWS directory bucket. */
  bucket: rules.required(rules.text("the name of a bucket")),
  /**
   * Prefix of every object's key: empty, or segments of letters, digits, `.`, `_` and `-`, each followed by `/`; at
   * most 150 characters. Stores with different prefixes are independent.
   * @default ""
   */
  prefix: rules.preset(
    "",
    rules.text('empty or segments that end in "/", of at most 150 characters', (prefix) => {
      return PREFIX.test(prefix) && prefix.length <= 150;
    }),
  ),
  /**
   * Your own `S3Client` of `@aws-sdk/client-s3`, instead of the next four options. The store does not close it.
   * @default made from the other options
   */
  client: rules.shape<S3Sender>("an S3Client of @aws-sdk/client-s3", "send"),
  /** URL of the service. @default Amazon's for the region */
  endpoint: rules.text("an absolute http(s) URL", isHttpUrl),
  /** Region of the bucket. @default `us-east-1` with an `endpoint`; otherwise the SDK's */
  region: rules.text("the name of a region"),
  /**
   * Access keys, or a function that returns them. @default the SDK's: environment, profile, role of the
   * machine
   */
  credentials: rules.value<S3Credentials | (() => Promise<S3Credentials>)>(
    "credentials, or a function that provides them",
    isObjectOrFunction,
    true,
  ),
  /** Whether the bucket is part of the path instead of the host name. @default `true` with an `endpoint` */
  forcePathStyle: rules.flag(),
  /**
   * Time limit without progress, in milliseconds, from 50. A call to a silent service ends after about twice that.
   * @default 2000
   */
  timeoutMs: rules.preset(2000, rules.time(50, 2 ** 31 - 1)),
};

export interface S3BlobStoreOptions extends rules.Options<typeof RULES> {}

/** Where streamed bodies wait until their size is known. */
export interface SpoolSettings {
  /** Bytes of a body kept in memory; a longer body is spooled to a file. */
  bufferBytes: number;
  /** Directory of the file. Absent: the process's own below the system's directory for temporary files. */
  spoolDirectory?: string | undefined;
}

/** {@link S3BlobStoreOptions}, checked and with their defaults. */
export type S3Settings = rules.Checked<typeof RULES> & SpoolSettings;

/** Throws a `TypeError` that names the invalid option and its valid values. */
export function settingsOf(options: S3BlobStoreOptions): S3Settings {
  const settings = checkOptions("createS3BlobStore", options, RULES);
  const ignored = CLIENT_OPTIONS.filter(
    (name) => settings.client !== undefined && options[name] !== undefined,
  );
  if (ignored.length > 0) {
    throw new TypeError(
      `createS3BlobStore: client already determines ${ignored.join(", ")}: pass either client or these`,
    );
  }
  return { ...settings, bufferBytes: BUFFER_BYTES };
}

function isHttpUrl(given: string): boolean {
  return /^https?:$/.test(parsedUrl(given)?.protocol ?? "");
}

function isObjectOrFunction(given: unknown): boolean {
  return typeof given === "function" || (typeof given === "object" && given !== null);
}
