import type { RecordFilter, RecordQueries, RecordState } from "../../contracts/record-queries.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import * as rules from "../../option-rules.ts";
import { hashOfName } from "../../stores/name-index.ts";
import { idsOwned } from "../owners/owned-images.ts";
import {
  type GoneReason,
  type ImageRecord,
  type ImageSummary,
  idOfRecord,
  summaryOf,
  type Withholding,
} from "../record/image-record.ts";
import { stateAt } from "../record/image-state.ts";
import { NewerVersion, readRecord } from "../record/record-codec.ts";
import type { LifeContext } from "./create-life.ts";
import { loadAny, standIn } from "./damaged-image.ts";

/** State of an image. */
export type ImageState = RecordState | "damaged";

export const IMAGE_STATES = [
  ...(["processing", "held", "ready", "withheld", "failed"] as const),
  ...(["deleted", "expired", "removed", "damaged"] as const),
] satisfies ImageState[];

export const FILTER_RULES = {
  state: rules.oneOf(...IMAGE_STATES),
  owner: rules.text("the name of an owner", () => true),
  /** Created then or later, in Unix milliseconds. */
  createdFrom: rules.whole(0),
  /** Created earlier, in Unix milliseconds. */
  createdBefore: rules.whole(0),
};

/** Which images are listed: those that match every given property. A damaged image has no date, and matches none. */
export interface ImageFilter extends rules.Options<typeof FILTER_RULES> {}

/** A listed image. If it is damaged, only `id` and `state` are valid: its record is unreadable. */
export interface ListedImage extends ImageSummary {
  state: ImageState;
  /** SHA-256 of the original, hex; empty once the image has ended. For operators, as for `deny`. */
  sha256: string;
  /** Why the image is withheld. Absent: it is not withheld. */
  reason?: string;
  /** Pages of a document. Absent: it has one, or is none. */
  pages?: number;
}

/** Lists the known images that match, in no particular order. Rejects at its end if it lacks some. */
export async function* listImages(
  context: LifeContext,
  filter: ImageFilter = {},
): AsyncGenerator<ListedImage> {
  const { owned, records } = context;
  const ids = filter.owner === undefined ? records.ids() : idsOwned(owned, hashOfName(filter.owner));
  const images = records.queries === null ? walked(context, ids) : found(context, records.queries, filter);
  for await (const image of images) if (isReadable(image) && matches(image, filter)) yield image;
}

/** {@link NEWER}: an image that a newer release wrote. {@link UNREAD}: the store failed. `null`: none. */
export type Listed = ListedImage | typeof NEWER | typeof UNREAD | null;

export function isReadable(image: Listed): image is ListedImage {
  return image !== null && image !== NEWER && image !== UNREAD;
}

/** Throws if records could not be read: a part must not pass for the whole. @param count Their number. */
export function requireAllRead(count: number): void {
  if (count === 0) return;
  const what = count === 1 ? "one record" : `${count} records`;
  throw new ServiceError("store_unavailable", `The images are incomplete: ${what} could not be read`);
}

async function* walked(context: LifeContext, ids: AsyncGenerator<string>): AsyncGenerator<Listed> {
  let unread = 0;
  for await (const id of ids) {
    const image = await listedImage(context, id);
    if (image === UNREAD) unread++;
    yield image;
  }
  requireAllRead(unread);
}

/** Reads the records that the store finds. It cannot judge damaged ones, and returns them with every page. */
async function* found(
  context: LifeContext,
  queries: RecordQueries,
  { state, ...others }: ImageFilter,
): AsyncGenerator<Listed> {
  // No readable record is damaged, so none is found.
  const filter = state === "damaged" ? NOTHING : { state, ...others };
  let cursor: string | undefined;
  do {
    const page = await queries.findRecords(filter, context.settings.now(), cursor);
    for (const { key, bytes } of page.records) {
      const id = idOfRecord(key);
      if (id !== null) yield await listedImage(context, id, bytes);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
}

const NOTHING: RecordFilter = { createdBefore: Number.MIN_SAFE_INTEGER };

function matches(image: ListedImage, { state, owner, createdFrom, createdBefore }: ImageFilter): boolean {
  if (state !== undefined && image.state !== state) return false;
  if (owner !== undefined && image.owner !== owner) return false;
  if (createdFrom === undefined && createdBefore === undefined) return true;
  const { createdAt } = image;
  return (
    image.state !== "damaged" &&
    createdAt >= (createdFrom ?? createdAt) &&
    createdAt < (createdBefore ?? Number.POSITIVE_INFINITY)
  );
}

/** Stands for an image that a newer release wrote: this release cannot read its record. */
export const NEWER = "newer";
/** Stands for an image whose record the store cannot read. */
export const UNREAD = "unread";

/**
 * The image for a listing. `onError` gets the error of an unreadable record.
 * @param bytes Bytes of the record, just read. @default they are read
 */
export async function listedImage(context: LifeContext, id: string, bytes?: Buffer): Promise<Listed> {
  const { records, settings } = context;
  let failure: unknown = null;
  const fail = (error: unknown) => {
    // One unreadable record must not hide all others.
    settings.onError(error);
    failure = error;
    return isServiceError(error, "damaged");
  };
  const record = await (bytes === undefined ? loadOne() : readOne(bytes));
  if (failure instanceof NewerVersion) return NEWER;
  // `null`: removed after its name was listed.
  if (record === null) return failure === null ? null : UNREAD;
  return {
    ...summaryOf(record),
    sha256: record.sha256,
    state: failure === null ? stateAt(record, settings.now()).name : "damaged",
    ...(record.withheld === null ? {} : { reason: record.withheld.reason }),
    ...(record.type === "application/pdf" && (record.pages ?? 1) > 1 ? { pages: Number(record.pages) } : {}),
  };

  async function loadOne(): Promise<ImageRecord | null> {
    const current = await records.load(id).catch((error) => (fail(error) ? loadAny(context, id) : null));
    return current?.record ?? null;
  }

  function readOne(read: Buffer): ImageRecord | null {
    try {
      return readRecord(read, id);
    } catch (error) {
      return fail(error) ? standIn(context, id, { bytes: read }) : null;
    }
  }
}

/** The end or the withholding of an image, for a later restore. */
export interface ImageEnd {
  /** ID of the image. */
  id: string;
  /** When the image ended, or was first withheld, in Unix milliseconds. */
  at: number;
  /** Why the image is gone; `null`: it is only withheld. */
  why: GoneReason | null;
  /** `null`: not withheld. */
  withheld: Withholding | null;
}

/** Called for an unreadable record. */
export type OnUnreadable = (id: string, error: unknown) => void;

/**
 * Lists every image that is gone or withheld, in no particular order. Reads every record. Rejects for an unreadable
 * record unless `onUnreadable` is given: an incomplete list would look complete.
 */
export async function* listEnds(
  { records, settings }: LifeContext,
  onUnreadable?: OnUnreadable,
): AsyncGenerator<ImageEnd> {
  for await (const id of records.ids()) {
    const current = await records.load(id).catch((error) => {
      if (onUnreadable === undefined) throw error;
      onUnreadable(id, error);
      return null;
    });
    const end = endOf(current?.record ?? null, settings.now());
    if (end !== null) yield end;
  }
}

function endOf(record: ImageRecord | null, now: number): ImageEnd | null {
  // A rejected upload was never an image.
  if (record === null || record.failure !== null) return null;
  const { id, withheld } = record;
  // A restore may revive an image that a repair ended for want of bytes.
  const gone = stateAt(record.gone?.lost ? { ...record, gone: null } : record, now).end;
  const at = gone?.at ?? withheld?.since;
  return at === undefined ? null : { id, at, why: gone?.why ?? null, withheld };
}
