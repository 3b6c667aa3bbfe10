import type { SpooledFile } from "../../contracts/call.ts";
import type { ConvertibleType, OriginalType, PicturePoint } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import type { Agent } from "../../http/request-headers.ts";
import type { LoggedRequest } from "../image-settings.ts";
import type { CheckedLimits, OwnerUsage } from "../owners/owner-usage.ts";
import { CONVERTIBLE, type ConvertibleName, declaredOriginalType, uploadTypeOf } from "../record/formats.ts";
import { createImageId, hashesOf, type ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { adviceFor, nameOtherKind, sniffConvertible } from "../record/other-kinds.ts";
import { sniffType } from "../record/sniff.ts";
import type { ClaimRequest, Claims, ImageClaim } from "./claims.ts";
import { storeUpload, type UploadContext, type UploadPatience } from "./store-upload.ts";
import { spooledUpload } from "./uploaded-file.ts";

/** An upload, with what its uploader requested. */
export interface NewImage {
  facts: UploadFacts;
  reservation: ReservationRequest;
  patience: UploadPatience;
  /** Absent: the host's code adds the image. */
  request?: LoggedRequest;
}

/**
 * Stores a spooled file as an image: validates its type, reserves the owner's quota and the idempotency key, and
 * stores it. Resolves to the new record, or, as `isReplay`, to that of an earlier upload with the same idempotency key.
 * Disposes of the file.
 * @param describe May throw a fault of the upload.
 */
export async function addImage(
  context: UploadContext & ReservationContext,
  file: SpooledFile,
  describe: () => NewImage,
): Promise<CurrentRecord & { isReplay?: true }> {
  const upload = spooledUpload(context.originals, file);
  let image: NewImage;
  let draft: ImageRecord;
  let reservation: ImageClaim | { made: CurrentRecord };
  try {
    image = describe();
    draft = describeUpload(file, image.facts, context.settings.convertUploads);
    await context.denied.requireAllowed(hashesOf(draft));
    reservation = await reserveImage(context, draft, image.reservation);
  } catch (error) {
    await upload.dispose();
    throw error;
  }
  if ("made" in reservation) {
    await upload.dispose();
    return { ...reservation.made, isReplay: true };
  }
  try {
    const current = await storeUpload(context, draft, upload, image.patience, reservation.requireHeld);
    reservation.settle();
    context.settings.logStored(current.record, image.request);
    return current;
  } catch (error) {
    await reservation.undo();
    throw error;
  }
}

/** The facts about a file that come from its uploader. */
export interface UploadFacts {
  name: string;
  /** Text for readers who do not see the image. */
  description?: string | undefined;
  /** Unix milliseconds, like `expiresAt`. */
  createdAt: number;
  /** `null`: never. */
  expiresAt: number | null;
  /** The point that a cut rendition keeps. */
  focus?: PicturePoint | undefined;
  agent: Agent | null;
  /** Name of the owner; `null`: no owner. */
  owner: string | null;
  /** The types that the upload may have. @default all that the service accepts */
  types?: readonly string[] | undefined;
  /** Names of the file and its declared type in messages, such as the form field. */
  called: { file: string; declaredType: string };
}

/** The record of an upload, from its head and facts. Throws `unsupported_media` for a file of another type. */
function describeUpload(
  file: SpooledFile,
  facts: UploadFacts,
  convertible: readonly ConvertibleName[],
): ImageRecord {
  const { name, description, createdAt, expiresAt, focus, agent, owner, called } = facts;
  return {
    id: createImageId(),
    name,
    ...(description === undefined ? {} : { description }),
    ...requireAccepted(file, called, convertible, facts.types),
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

/** The parts of a file that decide its type. */
type TypedFile = Pick<SpooledFile, "declaredType" | "head" | "size">;

/**
 * The type of a file. Throws `unsupported_media` if it is not accepted, or its bytes are of another.
 * @param types Those that a ticket permits; `undefined`: all.
 */
export function requireAccepted(
  file: TypedFile,
  called: UploadFacts["called"],
  convertible: readonly ConvertibleName[],
  types: readonly string[] | undefined,
): Pick<ImageRecord, "type" | "source"> {
  const source = convertibleType(file, convertible);
  const type = source === null ? requireType(file, called) : LIKELY_TYPE;
  requireOneOf(source ?? type, types);
  return source === null ? { type } : { type, source };
}

/** Throws `unsupported_media` for a declared type that no bytes could have. */
export function requireDeclared(
  declaredType: string,
  called: UploadFacts["called"],
  convertible: readonly ConvertibleName[],
  types: readonly string[] | undefined,
): void {
  const type = uploadTypeOf(declaredType);
  if (type !== undefined) requireOneOf(type, types);
  if (declaredOriginalType(declaredType) !== undefined) return;
  if (convertible.some((name) => CONVERTIBLE[name].includes(declaredType))) return;
  const unread = { declaredType, head: Buffer.alloc(0), size: 1 };
  throw new ServiceError("unsupported_media", mismatchOf(unread, null, undefined, called));
}

/** The type of most converted uploads, in the record until the upload is converted. */
const LIKELY_TYPE = "image/jpeg";

/** The type of a file that is to be converted; `null` for any other. */
function convertibleType(
  { declaredType, head }: TypedFile,
  convertible: readonly ConvertibleName[],
): ConvertibleType | null {
  if (convertible.length === 0) return null;
  const type = sniffConvertible(head);
  const names = convertible.map((name) => CONVERTIBLE[name]).find(([first]) => first === type);
  if (names === undefined) return null;
  return declaredOriginalType(declaredType) === "any" || names.includes(declaredType) ? type : null;
}

/** Throws `unsupported_media` for a type that the ticket of an upload excludes. @param types `undefined`: all. */
export function requireOneOf(type: string, types: readonly string[] | undefined): void {
  if (types === undefined || types.includes(type)) return;
  throw new ServiceError(
    "unsupported_media",
    `The file is ${type}, but the ticket accepts only ${types.join(", ")}`,
  );
}

/** The declared type must be supported, and must match the bytes. */
function requireType(file: TypedFile, called: UploadFacts["called"]): OriginalType {
  const declared = declaredOriginalType(file.declaredType);
  const actual = sniffType(file.head, declared === "any" ? undefined : declared);
  if (actual !== null && (declared === "any" || declared === actual)) return actual;
  throw new ServiceError("unsupported_media", mismatchOf(file, actual, declared, called));
}

/** Characters of a declared type that a message quotes. */
const MAX_QUOTED = 100;

/** Why a file is not of the type that it should be. */
function mismatchOf(
  { declaredType, head, size }: TypedFile,
  actual: OriginalType | null,
  declared: ReturnType<typeof declaredOriginalType>,
  called: UploadFacts["called"],
): string {
  if (size === 0) return "The file is empty";
  if (actual !== null) {
    if (declared !== undefined) return `${called.file} is declared as ${declared}, but is ${actual}`;
    return `${called.file} is ${actual}, but ${called.declaredType} says ${JSON.stringify(declaredType.slice(0, MAX_QUOTED))}`;
  }
  const kind = nameOtherKind(head);
  if (kind !== null) return `This is ${kind}; ${adviceFor(kind)}`;
  if (declared !== undefined) return `${called.file} is not a PNG, JPEG, GIF, SVG, PSD or PDF file`;
  return `${called.file} must be PNG, JPEG, GIF, SVG, PSD or PDF, declared by ${called.declaredType}`;
}

export interface ReservationRequest {
  /** `null`: the upload has no idempotency key. */
  claim: Omit<ClaimRequest, "id"> | null;
  /** Limits of the owner. */
  limits: CheckedLimits;
}

export interface ReservationContext {
  claims: Claims;
  owners: OwnerUsage;
  settings: { onError(error: unknown): void };
}

const NOTHING: ImageClaim = { requireHeld: async () => undefined, settle() {}, undo: async () => undefined };

/**
 * Claims the idempotency key of an upload, and reserves its bytes for the owner. Rejects with `conflict` and `forbidden`.
 * @returns the reservation, or the image that an earlier upload with the key created.
 */
async function reserveImage(
  context: ReservationContext,
  draft: ImageRecord,
  { claim: asked, limits }: ReservationRequest,
): Promise<ImageClaim | { made: CurrentRecord }> {
  const claim = asked === null ? NOTHING : await context.claims.claim({ ...asked, id: draft.id });
  if ("made" in claim) return claim;
  try {
    const bytes = await reserveBytes(context, draft, limits);
    return {
      requireHeld: claim.requireHeld,
      settle() {
        claim.settle();
        bytes.settle();
      },
      async undo() {
        await bytes.undo();
        await claim.undo();
      },
    };
  } catch (error) {
    await claim.undo();
    throw error;
  }
}

async function reserveBytes(
  { owners, settings }: Pick<ReservationContext, "owners" | "settings">,
  record: ImageRecord,
  limits: CheckedLimits,
): Promise<ImageClaim> {
  if (record.owner === null) return NOTHING;
  await owners.reserve(record, limits);
  return {
    ...NOTHING,
    settle: () => owners.settle(record),
    // Released, not settled: a write that seemed to fail may still take effect, so the usage checks for its record. If the
    // release fails, the usage corrects itself later.
    undo: () => owners.release(record).catch(settings.onError),
  };
}
