import { readFileSync } from "node:fs";

/** The least limit of open files for a server with some clients. */
export const ENOUGH_OPEN_FILES = 1024;
/** Below this limit, even an idle server comes near it. */
export const MIN_OPEN_FILES = 128;
export const RAISE_OPEN_FILES =
  "Raise it to 4096 or more, with ulimit -n, LimitNOFILE= (systemd) or --ulimit (Docker)";

/** The soft limit of open files of this process; `null` if the system does not report it. */
export function openFilesLimit(): number | null {
  let limits: string;
  try {
    limits = readFileSync("/proc/self/limits", "latin1");
  } catch {
    // Not Linux, or the limit is too low to open even this file.
    return null;
  }
  const soft = /^Max open files +(\d+|unlimited) /m.exec(limits)?.[1];
  if (soft === undefined) return null;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Read at start: once the limit is reached, this file cannot be opened. */
const limitAtStart = openFilesLimit();

/** The message for an error caused by too many open files; `null` for any other error. */
export function tooManyOpenFiles(error: unknown): string | null {
  const code = codeAtTheBottom(error);
  if (code === "ENFILE")
    return "The system has too many open files: raise fs.file-max, or end other processes.";
  // Node's resolver reports a package as missing if its files cannot be opened.
  const isUnopened = code === "ERR_MODULE_NOT_FOUND" && (limitAtStart ?? MIN_OPEN_FILES) < MIN_OPEN_FILES;
  return code === "EMFILE" || isUnopened ? lowLimitText(limitAtStart) : null;
}

/** The message that the limit of open files is too low, with the remedy. */
export function lowLimitText(limit: number | null): string {
  return `The limit of open files${limit === null ? "" : `, ${limit},`} is too low. ${RAISE_OPEN_FILES}.`;
}

function codeAtTheBottom(error: unknown): unknown {
  if (typeof error !== "object" || error === null) return undefined;
  if ("cause" in error && error.cause !== undefined) return codeAtTheBottom(error.cause);
  return "code" in error ? error.code : undefined;
}
