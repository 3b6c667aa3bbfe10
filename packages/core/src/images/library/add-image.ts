import type { SpooledFile } from "../../contracts/call.ts";
import type { OriginalType, PicturePoint } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import type { Agent } from "../../http/agent.ts";
import { declaredOriginalType } from "../record/formats.ts";
import { createImageId, type ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { sniffType } from "../record/sniff.ts";
import type { Reservation } from "../uploads/claims.ts";
import { type ReservationRequest, reserveImage } from "../uploads/reserve-image.ts";
import { storeUpload, type UploadPatience } from "../uploads/store-upload.ts";
import { spooledUpload } from "../uploads/uploaded-file.ts";
import type { LibraryContext } from "./library-context.ts";

/** An upload, with what its uploader requested. */
export interface NewImage {
  facts: UploadFacts;
  reservation: ReservationRequest;
  patience: UploadPatience;
}

/**
 * Stores a spooled file as an image: validates its type, reserves the owner's quota and the idempotency key, and
 * stores it. Resolves to the new record, or to the record of an earlier upload with the same idempotency key.
 * Disposes of the file.
 * @param describe May throw a fault of the upload.
 */
export async function addImage(
  context: LibraryContext,
  file: SpooledFile,
  describe: () => NewImage,
): Promise<CurrentRecord> {
  const upload = spooledUpload(context.originals, file);
  let image: NewImage;
  let draft: ReturnType<typeof describeUpload>;
  let reservation: Reservation | { made: CurrentRecord };
  try {
    image = describe();
    draft = describeUpload(file, image.facts);
    reservation = await reserveImage(context, draft, image.reservation);
  } catch (error) {
    await upload.dispose();
    throw error;
  }
  if ("made" in reservation) {
    await upload.dispose();
    return reservation.made;
  }
  try {
    const current = await storeUpload(context, draft, upload, image.patience, reservation.requireHeld);
    reservation.settle();
    return current;
  } catch (error) {
    await reservation.undo();
    throw error;
  }
}

/** The facts about a file that come from its uploader. */
export interface UploadFacts {
  name: string;
  /** Unix milliseconds, like `expiresAt`. */
  createdAt: number;
  /** `null`: never. */
  expiresAt: number | null;
  /** The point that a cut rendition keeps. */
  focus?: PicturePoint | undefined;
  agent: Agent | null;
  /** Name of the owner; `null`: no owner. */
  owner: string | null;
  /** Names of the file and its declared type in messages, such as the form field. */
  called: { file: string; declaredType: string };
}

/** The record of an upload, from its head and facts. Throws `unsupported_media` for a file of another type. */
function describeUpload(file: SpooledFile, facts: UploadFacts): ImageRecord {
  const { name, createdAt, expiresAt, focus, agent, owner, called } = facts;
  return {
    id: createImageId(),
    name,
    type: requireType(file, called),
    size: file.size,
    sha256: file.sha256,
    width: null,
    height: null,
    pages: null,
    ...(focus === undefined ? {} : { focus }),
    agent,
    owner: owner === null ? null : { name: owner, bytes: file.size },
    createdAt,
    updatedAt: createdAt,
    expiresAt,
    gone: null,
    withheld: null,
    processing: null,
    failure: null,
  };
}

/** The declared type must be supported, and must match the bytes. */
function requireType({ declaredType, head }: SpooledFile, called: UploadFacts["called"]): OriginalType {
  const declared = declaredOriginalType(declaredType);
  if (declared === undefined) {
    throw new ServiceError(
      "unsupported_media",
      `${called.file} must be PNG, JPEG, GIF, SVG, PSD or PDF, declared by ${called.declaredType}`,
    );
  }
  const actual = sniffType(head, declared === "any" ? undefined : declared);
  if (actual === null) {
    throw new ServiceError(
      "unsupported_media",
      `${called.file} is not a PNG, JPEG, GIF, SVG, PSD or PDF file`,
    );
  }
  if (declared !== "any" && declared !== actual) {
    throw new ServiceError(
      "unsupported_media",
      `${called.file} is declared as ${declared}, but is ${actual}`,
    );
  }
  return actual;
}
