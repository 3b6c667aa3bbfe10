import { isServiceError } from "../../errors.ts";
import { type ImageRecord, jsonIn } from "../record/image-record.ts";
import type { CurrentRecord, DamagedRecord } from "../record/image-records.ts";
import { hasField } from "../record/record-codec.ts";
import type { LifeContext } from "./life-context.ts";

/** What can still be learned from a record that cannot be read. */
export interface Remains extends Pick<ImageRecord, "owner" | "withheld"> {
  /** Whether the bytes tell that the image had ended. */
  hadEnded: boolean;
  /** Whether the bytes tell that the image was withheld. */
  wasWithheld: boolean;
}

/**
 * The record of an image; of one that cannot be read, a record in its place at the same revision, so that the image can be
 * ended or withheld by compare-and-set. `null` where there is none.
 */
export async function loadAny(context: LifeContext, id: string): Promise<CurrentRecord | null> {
  for (;;) {
    try {
      return await context.records.load(id);
    } catch (error) {
      if (!isServiceError(error, "damaged")) throw error;
    }
    const damaged = await context.records.loadDamaged(id);
    // Otherwise another process has replaced it meanwhile.
    if (damaged !== null) return { record: standIn(context, id, damaged), revision: damaged.revision };
  }
}

const NOTHING_KNOWN = {
  name: "",
  type: "image/png",
  size: 0,
  sha256: "",
  width: null,
  height: null,
  pages: null,
  agent: null,
  gone: null,
  processing: null,
  failure: null,
} as const;

/** What stands for a damaged record. Its life is as long as one can be. */
function standIn({ settings }: LifeContext, id: string, { bytes }: DamagedRecord): ImageRecord {
  const { owner, withheld } = remainsOf(bytes);
  const now = settings.now();
  return {
    ...NOTHING_KNOWN,
    ...{ id, owner, withheld, createdAt: now, updatedAt: now, expiresAt: now + settings.maxLifetimeMs },
    damaged: true,
  };
}

/** Reads what is left of a damaged record: whole fields where it still is JSON, traces in its text elsewhere. */
export function remainsOf(bytes: Buffer): Remains {
  const value = jsonIn(bytes);
  const owner = hasField(value, "owner") ? (value.owner ?? null) : null;
  const withheld = hasField(value, "withheld") ? (value.withheld ?? null) : null;
  // A quote in a user's text is escaped, so that no name can look like a field.
  const text = bytes.toString("latin1");
  const hadEnded = /"gone":\{|"sha256":""|"failure":"/.test(text);
  return { owner, withheld, hadEnded, wasWithheld: withheld !== null || /"withheld":\{/.test(text) };
}
