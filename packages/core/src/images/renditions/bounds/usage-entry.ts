import { ServiceError } from "../../../errors.ts";
import { isImageId } from "../../record/image-id.ts";
import { jsonIn } from "../../record/image-record.ts";
import { FORMAT_VERSION, requireKnownVersion } from "../../record/known-version.ts";

/** Use and size of the stored renditions of one image. */
export interface UsageEntry {
  /** Hour of the last use, in hours since 1970; 0: unknown. */
  usedHour: number;
  /** Bytes of all its stored renditions; `null`: not measured. */
  bytes: number | null;
  /** Time of the measurement in Unix milliseconds; 0 if `bytes` is `null`. */
  measuredMs: number;
}

/** Entries by the ID of the image. */
export type UsageEntries = Map<string, UsageEntry>;

const HOUR_MS = 3_600_000;

/** The hour of a time in Unix milliseconds. */
export function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS);
}

/**
 * Merges an entry of another process or an earlier time: the latest use and the latest measurement count. Merging is commutative
 * and idempotent.
 */
export function addEntry(entries: UsageEntries, id: string, entry: UsageEntry): void {
  const known = entries.get(id);
  if (known === undefined) {
    entries.set(id, entry);
    return;
  }
  const isLater =
    entry.measuredMs > known.measuredMs ||
    (entry.measuredMs === known.measuredMs && (entry.bytes ?? 0) > (known.bytes ?? 0));
  const { bytes, measuredMs } = isLater ? entry : known;
  entries.set(id, { usedHour: Math.max(known.usedHour, entry.usedHour), bytes, measuredMs });
}

export function encodeEntries(entries: UsageEntries): Buffer {
  const images: Record<string, readonly [number, number | null, number]> = {};
  for (const [id, { usedHour, bytes, measuredMs }] of entries) images[id] = [usedHour, bytes, measuredMs];
  return Buffer.from(JSON.stringify({ v: FORMAT_VERSION, images }), "utf8");
}

/** The inverse of {@link encodeEntries}. Throws NewerVersion for entries of a newer release, `damaged` for unreadable ones. */
export function decodeEntries(bytes: Buffer, key: string): UsageEntries {
  const { v, images } = Object(jsonIn(bytes)) as { v?: unknown; images?: unknown }; // Checked here.
  requireKnownVersion(v, `The usage of renditions (key "${key}")`);
  if (typeof images !== "object" || images === null) {
    throw new ServiceError("damaged", `The usage of renditions (key "${key}") is damaged`);
  }
  const entries: UsageEntries = new Map();
  for (const [id, values] of Object.entries(images)) {
    const [usedHour, size, measuredMs] = Array.isArray(values) ? values : [];
    const isEntry = isCount(usedHour) && isCount(measuredMs) && (size === null || isCount(size));
    if (isImageId(id) && isEntry) entries.set(id, { usedHour, bytes: size, measuredMs });
  }
  return entries;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
