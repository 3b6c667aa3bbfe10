import { ServiceError } from "@outrigger/core";
import type { OriginalType } from "@outrigger/core/images";

/** The `unsupported_media` error for bytes that cannot be read as `type`. `reason` is a clause without a full stop. */
export function unreadable(type: OriginalType, reason: string, cause?: unknown): ServiceError {
  return new ServiceError(
    "unsupported_media",
    `This cannot be read as ${type}: ${reason}.`,
    cause === undefined ? {} : { cause },
  );
}

/** The `unsupported_media` error for more pixels than `maxPixels`. */
export function tooManyPixels(type: OriginalType, maxPixels: number): ServiceError {
  return unreadable(type, `it has more than ${maxPixels / 1_000_000} megapixels`);
}
