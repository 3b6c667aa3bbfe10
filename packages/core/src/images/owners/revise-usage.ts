import { bytesText } from "../../amounts.ts";
import { ServiceError } from "../../errors.ts";
import * as rules from "../../option-rules.ts";
import { NOTE_LIFE_MS, releaseBytes, reserveBytes, type UsageRecord, writeNote } from "./usage-record.ts";

export const OWNER_LIMITS = {
  /** Maximum number of images at a time, from 0. @default no limit */
  images: rules.whole(0),
  /** Maximum total bytes of their originals, from 0. @default no limit */
  bytes: rules.size(0),
};

/** Quota of one owner. An absent limit is no limit. */
export interface OwnerLimits extends rules.Options<typeof OWNER_LIMITS> {}

export type CheckedLimits = Partial<rules.Filled<rules.Checked<typeof OWNER_LIMITS>>>;

export interface UsageChange {
  kind: "reserve" | "release";
  id: string;
  bytes: number;
  /** For a reservation. */
  limits: CheckedLimits;
}

export interface Revision {
  usage: UsageRecord;
  /** Whether anything was reserved, released or checked. If not, the usage need not be written. */
  isChanged: boolean;
  /** For each operation, in order, the reason for its refusal, or `null`. */
  refusals: unknown[];
}

export interface RevisionContext {
  nowMs: number;
  /** Whether the record of an image exists and names the owner. */
  isOwned(id: string): Promise<boolean>;
  /** Images whose notes are probably obsolete. */
  settled: ReadonlySet<string>;
}

const MAX_REPAIRS = 32;

/**
 * Applies operations to a usage that was just read, or that compare-and-set proves current. Records are read after
 * the usage, so that they are never older than it.
 */
export async function reviseUsage(
  current: UsageRecord,
  operations: readonly UsageChange[],
  context: RevisionContext,
): Promise<Revision> {
  const { nowMs, settled } = context;
  const usage = { ...current, notes: new Map(current.notes) };
  const ids = new Set(operations.map(({ id }) => id));
  const notes = [...usage.notes];
  const left = notes.filter(([, note]) => nowMs - note.atMs > NOTE_LIFE_MS).slice(0, MAX_REPAIRS);
  const believed = notes.filter(([id]) => settled.has(id));
  const unknown = [...ids].filter((id) => !usage.notes.has(id));
  const owned = await askOwned([...unknown, ...[...left, ...believed].map(([id]) => id)], context);
  for (const [id, { kind }] of believed) if (owned.get(id) === (kind === "reserved")) usage.notes.delete(id);
  for (const [id] of left) repair(usage, id, owned.get(id), nowMs);
  let isChanged = left.length > 0;
  const refusals = operations.map((operation) => {
    try {
      if (apply(usage, operation, owned, nowMs)) isChanged = true;
      return null;
    } catch (error) {
      return error;
    }
  });
  return { usage, isChanged, refusals };
}

/** Checks a note that was left behind by a crash. */
function repair(usage: UsageRecord, id: string, isOwned: unknown, nowMs: number): void {
  const note = usage.notes.get(id);
  if (note === undefined) return;
  if (isOwned === (note.kind === "reserved")) usage.notes.delete(id);
  // Never stored. The note stays for another period: a release after a late store must find nothing reserved.
  else if (isOwned === false) releaseBytes(usage, id, note.bytes, nowMs);
  // Released, but the record does not show it yet, or could not be read. It is checked again later.
  else writeNote(usage, id, { ...note, atMs: nowMs });
}

/** Reads from the records whether the owner has the images. For an unreadable record the value is its error. */
async function askOwned(ids: readonly string[], { isOwned }: RevisionContext): Promise<Map<string, unknown>> {
  const answers = await Promise.all(
    [...new Set(ids)].map(async (id): Promise<[string, unknown]> => {
      try {
        return [id, await isOwned(id)];
      } catch (error) {
        return [id, error];
      }
    }),
  );
  return new Map(answers);
}

/** Applies one operation. @returns Whether the usage changed. @throws The reason for a refusal. */
function apply(
  usage: UsageRecord,
  operation: UsageChange,
  owned: ReadonlyMap<string, unknown>,
  nowMs: number,
): boolean {
  const { kind, id, bytes } = operation;
  const note = usage.notes.get(id);
  const isTaken = note === undefined ? owned.get(id) : note.kind === "reserved";
  if (typeof isTaken !== "boolean") throw isTaken;
  if (isTaken === (kind === "reserve")) return false;
  if (kind === "reserve") {
    requireRoom(usage, operation);
    reserveBytes(usage, id, bytes, nowMs);
  } else {
    // Releases the reserved bytes. Without a note these are the bytes in the record.
    releaseBytes(usage, id, note?.bytes ?? bytes, nowMs);
  }
  return true;
}

/** Throws `forbidden` if another image of so many bytes is beyond the limits. */
export function requireRoom(
  usage: Pick<UsageRecord, "images" | "bytes">,
  { bytes, limits }: Pick<UsageChange, "bytes" | "limits">,
): void {
  if (limits.images !== undefined && usage.images >= limits.images) {
    throw new ServiceError(
      "forbidden",
      `At most ${limits.images} images at a time: delete one, or wait until one expires`,
    );
  }
  if (limits.bytes !== undefined && usage.bytes + bytes > limits.bytes) {
    const left = Math.max(0, limits.bytes - usage.bytes);
    throw new ServiceError(
      "forbidden",
      `Your images may have at most ${bytesText(limits.bytes)} in total: ${bytesText(left)} are left, and this image has ${bytesText(bytes, Math.ceil)}`,
    );
  }
}
