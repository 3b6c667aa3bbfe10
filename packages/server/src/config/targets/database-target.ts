import { pathToFileURL } from "node:url";
import { parseStorageUrl } from "@outrigger/core/stores";
import { parsedUrl } from "@outrigger/core/values";

/** The database of contacts, accounts and suppressions. */
export type DatabaseTarget =
  /** An embedded database; the path is absolute. */
  | { kind: "file"; path: string }
  /** The URL may hold a password. */
  | { kind: "postgres"; url: string };

/** The accepted forms of a database URL, for messages. */
export const DATABASE_URL = "file:path, or postgres://user:password@host:port/database";
const FORM = `must be ${DATABASE_URL}`;

/**
 * Parses the URL of the lookup's database.
 * @param directory Base for relative paths of `file:` URLs. @default the working directory
 * @throws TypeError whose message begins with `must`. It quotes no part of the URL, which may hold a password.
 */
export function parseDatabaseUrl(text: string, directory = "."): DatabaseTarget {
  if (/^file:/i.test(text)) {
    const target = parseStorageUrl(text, directory);
    if (target.kind !== "file") throw new TypeError(FORM);
    return { kind: "file", path: target.directory };
  }
  if (!/^postgres(?:ql)?:\/\//i.test(text) || parsedUrl(text) === null) throw new TypeError(FORM);
  const { hash, pathname } = new URL(text);
  if (hash !== "" || /^\/?$/.test(pathname)) throw new TypeError(FORM);
  return { kind: "postgres", url: text };
}

/** @returns The URL with a relative path resolved against `directory`. */
export function resolveDatabaseUrl(url: string, directory: string): string {
  return databaseUrl(parseDatabaseUrl(url, directory));
}

/** The target as a URL again. */
export function databaseUrl(target: DatabaseTarget): string {
  return target.kind === "file" ? pathToFileURL(target.path).href : target.url;
}

/** The target for logs and messages: without user, password and parameters. */
export function describeDatabase(target: DatabaseTarget): string {
  if (target.kind === "file") return `file:${target.path}`;
  const { host, pathname } = new URL(target.url);
  return `postgres://${host}${pathname}`;
}
