import { isServiceError, ServiceError, systemCode } from "../../errors.ts";

export { systemCode } from "../../errors.ts";

const NO_SPACE = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
/** Instructions for the errors about too many open files. */
const OPEN_FILES = new Map([
  [
    "EMFILE",
    "The process has reached its limit of open files (EMFILE): raise it (ulimit -n, or LimitNOFILE of systemd)",
  ],
  ["ENFILE", "The machine has reached its limit of open files (ENFILE): raise it (sysctl fs.file-max)"],
]);

/** Maps a driver error to the store's error. Errors that are not from the file system pass unchanged. */
export function storeError(error: unknown): unknown {
  if (isServiceError(error)) return error;
  const code = systemCode(error);
  // An object, since it has a code.
  if (code === undefined || !("syscall" in (error as object))) return error;
  if (NO_SPACE.has(code)) return new ServiceError("no_space", "The disk is full", { cause: error });
  const limit = OPEN_FILES.get(code);
  if (limit !== undefined) return new ServiceError("store_unavailable", limit, { cause: error });
  return new ServiceError("store_unavailable", `The data directory cannot be used (${code})`, {
    cause: error,
  });
}

/** Runs file system work and maps its errors. */
export async function mapped<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeError(error);
  }
}
