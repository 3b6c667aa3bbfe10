import type { ServiceError } from "@outrigger/core";
import { unreadable } from "../unreadable.ts";

export const PSD_TYPE = "image/x-photoshop";

/** The `unsupported_media` error for a PSD or PSB. `reason` is a clause without a full stop. */
export function unreadablePsd(reason: string, cause?: unknown): ServiceError {
  return unreadable(PSD_TYPE, reason, cause);
}

/** The `unsupported_media` error for a file that ends before what it declares. */
export function truncatedPsd(cause?: unknown): ServiceError {
  return unreadablePsd("it is truncated", cause);
}
