import type { PicturePoint } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import { changeRecord } from "../life/change-record.ts";
import { type DateSource, parseDescription, parseExpiry, parseName } from "../record/image-fields.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { readinessOf } from "../record/image-state.ts";
import { parseFocus } from "../record/picture-point.ts";
import { requireAlive } from "./find-image.ts";
import type { LibraryContext } from "./library-context.ts";

/** The fields that an edit changes. */
export type ImageChange = Partial<Pick<ImageRecord, "name" | "expiresAt">> & {
  /** `null` removes it. */
  focus?: PicturePoint | null;
  /** Likewise. */
  description?: string | null;
};

/**
 * Parses an edit. Rejects with `bad_request` if a value is malformed or out of range, and if the edit changes
 * nothing.
 */
export function parseChange(
  given: Record<keyof ImageChange, unknown>,
  source: DateSource | "code",
  { settings }: LibraryContext,
): ImageChange {
  if (given.name === "") throw new ServiceError("bad_request", "name must not be empty");
  const name = parseName(given.name);
  const expiresAt = parseExpiry(given.expiresAt, source, settings.now(), settings);
  const focus = parseFocus(given.focus);
  const description = parseDescription(given.description);
  const change = {
    ...(name === undefined ? {} : { name }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(focus === undefined ? {} : { focus }),
    ...(description === undefined ? {} : { description }),
  };
  if (Object.keys(change).length > 0) return change;
  throw new ServiceError("bad_request", "Nothing to change: send name, description, expiresAt or focus");
}

/**
 * Changes a ready image. Rejects with `conflict` while it is processed or held, and if it has changed since `current` was
 * read.
 */
export async function changeImage(
  context: LibraryContext,
  current: CurrentRecord,
  change: ImageChange,
): Promise<CurrentRecord> {
  await requireAlive(context, current);
  const readiness = readinessOf(current.record);
  if (readiness !== "ready") {
    const why = readiness === "held" ? "waits for review" : "is still being processed";
    throw new ServiceError("conflict", `This image ${why}: it can only be deleted now`);
  }
  const { focus, description, ...others } = { ...current.record, ...change };
  const optional = { ...(focus && { focus }), ...(description && { description }) };
  return changeRecord(context, current, { ...others, ...optional });
}
