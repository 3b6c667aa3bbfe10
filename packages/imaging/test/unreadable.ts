import type { OriginalType } from "@outrigger/core/images";
import { expect } from "vitest";

/** The error for bytes that cannot be read as `type`, for this reason. */
export function unreadable(type: OriginalType, reason: string) {
  const message = `This cannot be read as ${type}: ${reason}.`;
  return expect.objectContaining({ code: "unsupported_media", message });
}
