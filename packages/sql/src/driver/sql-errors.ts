import { isServiceError, ServiceError } from "@outrigger/core";
import { isError, systemCode } from "@outrigger/core/values";

/** Codes of errors that mean a full disk: SQLite's, and PostgreSQL's class 53. */
const NO_SPACE = new Set(["SQLITE_FULL", "53100"]);

/** PostgreSQL's code of functions that do not work during recovery. */
const STANDBY = "55000";
const READ_ONLY = "25006";

/** Converts a driver's error to a `ServiceError`. Returns a `ServiceError` unchanged. */
export function toServiceError(error: unknown): ServiceError {
  if (isServiceError(error)) return error;
  const code = codeOf(error);
  if (NO_SPACE.has(code)) {
    return new ServiceError("no_space", "The database has no room left.", { cause: error });
  }
  return new ServiceError("store_unavailable", messageFor(error, code), { cause: error });
}

export function closedError(): ServiceError {
  return new ServiceError("store_unavailable", "The database is closed.");
}

/** Whether another connection holds SQLite's lock. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith("SQLITE_BUSY");
}

/** Whether a statement failed because another transaction changed the same rows. It can be run again. */
export function isConflict(error: unknown): boolean {
  return codeOf(error) === "40001";
}

/** Whether the server is a standby, or has become read-only otherwise. */
export function isNoPrimary(error: unknown): boolean {
  return STANDBY === codeOf(error) || READ_ONLY === codeOf(error);
}

function codeOf(error: unknown): string {
  return systemCode(error) ?? "";
}

function messageFor(error: unknown, code: string): string {
  const message = isError(error) ? error.message : String(error);
  if (code.startsWith("SQLITE_BUSY")) return "The database is busy with another process.";
  if (code.startsWith("SQLITE_READONLY")) return "The database file cannot be written to.";
  if (code === "SQLITE_CANTOPEN") return "The database file cannot be opened.";
  if (code === "SQLITE_CORRUPT" || code === "SQLITE_NOTADB")
    return "The database file is damaged or not a database.";
  if (code === STANDBY) {
    return "The database server is a standby, whose data may be out of date. Name the primary server.";
  }
  if (code === READ_ONLY) return "The database server is a standby or read-only. Name the primary server.";
  if (code === "28P01" || code === "28000") return "The database refuses the user name or the password.";
  if (code === "3D000") return "The database server has no database of this name.";
  if (code === "42501") return "The database user lacks a permission.";
  if (code === "53300") return "The database server has no connection left.";
  if (code === "57014" || /timeout|timed out/i.test(message)) return "The database did not answer in time.";
  if (/^[0-9A-Z]{5}$/.test(code) && !code.startsWith("08") && !code.startsWith("57P")) {
    return "The database refused a statement.";
  }
  return code.startsWith("SQLITE") ? "The database file failed." : "The database cannot be reached.";
}
