import { createRequire } from "node:module";
import { isError } from "@outrigger/core/values";
import type Database from "libsql";

/**
 * Loads the driver of embedded databases, so that an app on PostgreSQL starts without it. Its native part is an optional
 * dependency of libsql.
 * @throws Error that names what is missing.
 */
export function loadLibsql(): typeof Database {
  try {
    return createRequire(import.meta.url)("libsql");
  } catch (cause) {
    const [reason] = isError(cause) ? cause.message.split("\n") : [String(cause)];
    throw new Error(
      `A database file needs the driver libsql, which cannot be loaded: ${reason}. ` +
        "Install it with its optional dependencies (npm install --include=optional libsql). " +
        "If your server is bundled, leave @outrigger/sql out of the bundle",
      { cause },
    );
  }
}
