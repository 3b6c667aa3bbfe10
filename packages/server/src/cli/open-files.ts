import { readFileSync } from "node:fs";

/** Fewer open files than this are too few for a server with some clients. */
export const ENOUGH_OPEN_FILES = 1024;
/** With fewer, a server that does nothing yet is already near the limit. */
export const MIN_OPEN_FILES = 128;
export const RAISE_OPEN_FILES =
  "Raise it to 4096 or more, with ulimit -n, LimitNOFILE= (systemd) or --ulimit (Docker)";

/** How many files this process may have open at a time (its soft limit); `null` where the system does not tell. */
export function openFilesLimit(): number | null {
  let limits: string;
  try {
    limits = readFileSync("/proc/self/limits", "latin1");
  } catch {
    // Not Linux, or so few that not even this file can be opened.
    return null;
  }
  const soft = /^Max open files +(\d+|unlimited) /m.exec(limits)?.[1];
  if (soft === undefined) return null;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Read at the start: when files have run out, the limit cannot be read any more. */
const limitAtStart = openFilesLimit();

/** What to say of an error that comes from too many open files; `null` for any other. */
export function tooManyOpenFiles(error: unknown): string | null {
  const code = codeAtTheBottom(error);
  if (code === "ENFILE")
    return "The system has too many open files: raise fs.file-max, or end other processes.";
  // A package whose files cannot be opened is missing to Node's resolver.
  const isUnopened = code === "ERR_MODULE_NOT_FOUND" && (limitAtStart ?? MIN_OPEN_FILES) < MIN_OPEN_FILES;
  return code === "EMFILE" || isUnopened ? lowLimitText(limitAtStart) : null;
}

/** That a limit of open files is too low, and what to do. */
export function lowLimitText(limit: number | null): string {
  return `The limit of open files${limit === null ? "" : `, ${limit},`} is too low. ${RAISE_OPEN_FILES}.`;
}

function codeAtTheBottom(error: unknown): unknown {
  if (typeof error !== "object" || error === null) return undefined;
  if ("cause" in error && error.cause !== undefined) return codeAtTheBottom(error.cause);
  return "code" in error ? error.code : undefined;
}
