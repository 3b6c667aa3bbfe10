import { randomFillSync } from "node:crypto";

const REVISION_BYTES = 12;
/** Random bytes are fetched for so many at once: to fetch them costs about the same for one as for all. */
const AT_ONCE = 128;

const pool = Buffer.alloc(AT_ONCE * REVISION_BYTES);
let used = pool.length;

/** A text of 16 characters that nobody else ever has. */
export function randomRevision(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const begin = used;
  used += REVISION_BYTES;
  return pool.toString("base64url", begin, used);
}
