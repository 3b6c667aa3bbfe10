import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as rules from "../../option-rules.ts";
import { parsedUrl } from "../../parsed-url.ts";
import { isRedisUrl, parseRedisUrl } from "./parse-redis-url.ts";
import { parseS3Url } from "./parse-s3-url.ts";
import type { FileTarget, MemoryTarget, PostgresTarget, StorageTarget } from "./storage-target.ts";
import { isEncoded, readParameters, readWhole } from "./url-parameters.ts";

const KINDS =
  "must be a URL that begins with file:, memory:, postgres:, redis:, rediss:, redis+sentinel:, rediss+sentinel: or s3: (a directory is file:./data)";
const FILE_FORM = "must be file:path or file:///path, with special characters (% ? #) percent-encoded";
const MEMORY_FORM = "must be memory: or memory:?maxBytes=…";
const POSTGRES_FORM =
  "must be postgres://[user:password@]host[:port]/database[?prefix=…&timeoutMs=…&maxConnections=…&sslmode=…], with special characters in user and password percent-encoded";
/** Parameters of the driver, which stay in the URL. */
const OF_POSTGRES_DRIVER = ["sslmode", "sslrootcert", "sslcert", "sslkey"] as const;

/**
 * Parses a storage URL.
 * @param directory Base for relative paths of `file:` URLs. @default the working directory
 * @throws TypeError whose message begins with `must`. It quotes no part of the URL, which may hold a password.
 */
export function parseStorageUrl(text: string, directory = "."): StorageTarget {
  if (isRedisUrl(text)) return parseRedisUrl(text);
  switch (/^[a-z0-9]+:/i.exec(text)?.[0].toLowerCase()) {
    case "file:":
      return parseFileUrl(text, directory);
    case "memory:":
      return parseMemoryUrl(text);
    case "postgres:":
    case "postgresql:":
      return parsePostgresUrl(text);
    case "s3:":
      return parseS3Url(text);
    default:
      throw new TypeError(KINDS);
  }
}

function parseFileUrl(text: string, directory: string): FileTarget {
  const path = text.slice("file:".length);
  // Two slashes begin a host; three are an empty host before an absolute path.
  if (/[?#\0]|^$|^\/\/(?:[^/]|$)/.test(path)) throw new TypeError(FILE_FORM);
  try {
    const decoded = path.startsWith("//") ? fileURLToPath(text) : decodeURIComponent(path);
    if (decoded.includes("\0")) throw new TypeError(FILE_FORM);
    return { kind: "file", directory: resolve(directory, decoded) };
  } catch (cause) {
    throw new TypeError(FILE_FORM, { cause });
  }
}

function parseMemoryUrl(text: string): MemoryTarget {
  const url = new URL(text);
  if (url.pathname !== "" || url.host !== "" || url.hash !== "") throw new TypeError(MEMORY_FORM);
  const { maxBytes } = readParameters(url, ["maxBytes"]);
  return { kind: "memory", maxBytes: readWhole("maxBytes", maxBytes, rules.size(1)) };
}

/** Parses `postgres://…`. @throws TypeError that states the accepted form and quotes no part of the text. */
function parsePostgresUrl(text: string): PostgresTarget {
  const url = parsedUrl(text);
  const isWell = url !== null && url.host !== "" && url.hash === "" && /^\/[^/]+$/.test(url.pathname);
  if (!isWell || !isEncoded(url.username + url.password + url.pathname)) throw new TypeError(POSTGRES_FORM);
  const { prefix, timeoutMs, maxConnections } = readParameters(url, [
    ...(["prefix", "timeoutMs", "maxConnections"] as const),
    ...OF_POSTGRES_DRIVER,
  ]);
  if (prefix !== undefined && !/^[a-z][a-z0-9_]{0,29}$/.test(prefix)) {
    throw new TypeError(
      "must have 1 to 30 lower-case letters, digits and _ as prefix, of which the first is a letter",
    );
  }
  for (const own of ["prefix", "timeoutMs", "maxConnections"]) url.searchParams.delete(own);
  return {
    kind: "postgres",
    url: url.href,
    prefix,
    timeoutMs: readWhole("timeoutMs", timeoutMs, rules.time(50, 60_000)),
    maxConnections: readWhole("maxConnections", maxConnections, rules.whole(1, 1000)),
  };
}
