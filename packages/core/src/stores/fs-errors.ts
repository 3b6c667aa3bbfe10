import { isServiceError, ServiceError, systemCode } from "../errors.ts";

export { systemCode } from "../errors.ts";

const NO_SPACE = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** A driver's failure as the store's own error. Errors that are not the file system's pass unchanged. */
export function storeError(error: unknown): unknown {
  if (isServiceError(error)) return error;
  const code = systemCode(error);
  if (code === undefined || !("syscall" in (error as Error))) return error; // An Error, since it has a code.
  if (NO_SPACE.has(code)) return new ServiceError("no_space", "The disk is full", { cause: error });
  return new ServiceError("store_unavailable", `The data directory cannot be used (${code})`, {
    cause: error,
  });
}

/** Runs file system work, mapping what it fails with. */
export async function mapped<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeError(error);
  }
}
