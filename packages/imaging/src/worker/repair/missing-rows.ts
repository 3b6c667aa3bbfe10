import type { OriginalType } from "@outrigger/core/images";
import { unreadable } from "../unreadable.ts";

/** Share of its rows that a truncated or damaged picture must have. */
const MIN_SHARE = 0.9;

/** Throws `unsupported_media` when too many rows are missing. @param what The rows, in the message. */
export function requireRows(
  type: OriginalType,
  {
    came,
    of,
    isTruncated,
    what = "its rows",
  }: { came: number; of: number; isTruncated: boolean; what?: string },
): void {
  if (came >= of * MIN_SHARE) return;
  const state = isTruncated ? "truncated" : "damaged";
  const percent = Math.ceil(100 - (100 * came) / of);
  throw unreadable(type, `it is ${state}: ${percent} % of ${what} are missing`);
}
