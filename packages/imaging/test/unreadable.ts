import type { OriginalType } from "@outrigger/core/images";
import { expect } from "vitest";

const DAMAGED = "The file is damaged or incomplete";

/** The error for bytes that cannot be read as `type`. @param reason `damaged`, or `damaged: detail`, or another clause. */
export function unreadable(type: OriginalType, reason: string) {
  const message = reason.startsWith("damaged")
    ? reason.replace("damaged", DAMAGED)
    : `This cannot be read as ${type}: ${reason}`;
  return expect.objectContaining({ code: "unsupported_media", message: `${message}.` });
}

/** The reason in such a message, as in {@link unreadable}. Fails for any other message. */
export function reasonIn(message: string, type: OriginalType): string {
  const prefix = `This cannot be read as ${type}: `;
  expect(message.startsWith(DAMAGED) || message.startsWith(prefix), message).toBe(true);
  return message.replace(DAMAGED, "damaged").replace(prefix, "").slice(0, -1);
}
