import type { PicturePoint } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import { changeRecord } from "../life/change-record.ts";
import { type DateSource, parseExpiry, parseName } from "../record/image-fields.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { parseFocus } from "../record/picture-point.ts";
import { requireAlive } from "./find-image.ts";
import type { LibraryContext } from "./library-context.ts";

/** The fields that an edit changes. */
export type ImageChange = Partial<Pick<ImageRecord, "name" | "expiresAt">> & {
  /** `null` removes it. */
  focus?: PicturePoint | null;
};

/**
 * Parses an edit. Rejects with `bad_request` if a value is malformed or out of range, and if the edit changes
 * nothing.
 */
export function parseChange(
  { name: givenName, expiresAt: givenExpiry, focus: givenFocus }: Record<keyof ImageChange, unknown>,
  source: DateSource | "code",
  { settings }: LibraryContext,
): ImageChange {
  if (givenName === "") throw new ServiceError("bad_request", "name must not be empty");
  const name = parseName(givenName);
  const expiresAt = parseExpiry(givenExpiry, source, settings.now(), settings);
  const focus = parseFocus(givenFocus);
  if (name === undefined && expiresAt === undefined && focus === undefined) {
    throw new ServiceError("bad_request", "Nothing to change: send name, expiresAt or focus");
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(focus === undefined ? {} : { focus }),
  };
}

/**
 * Changes a ready image. Rejects with `conflict` while it is processed, and if it has changed since `current` was
 * read.
 */
export async function changeImage(
  context: LibraryContext,
  current: CurrentRecord,
  { focus, ...change }: ImageChange,
): Promise<CurrentRecord> {
  await requireAlive(context, current);
  if (current.record.processing !== null)
    throw new ServiceError("conflict", "This image is still being processed: it can only be deleted now");
  const { focus: before, ...record } = current.record;
  const after = focus === undefined ? before : focus;
  return changeRecord(context, current, { ...record, ...change, ...(after ? { focus: after } : {}) });
}
