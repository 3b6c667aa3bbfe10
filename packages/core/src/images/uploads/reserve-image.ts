import type { OwnerLimits, OwnerUsage } from "../owners/owner-usage.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import type { Claims } from "./claims.ts";

/** What is reserved for an image before any of its bytes are stored. */
export interface Reservation {
  /** Proves, right before the image is stored, that the reservation still holds. Rejects with `conflict`. */
  requireHeld(): Promise<void>;
  /** The image is stored. */
  settle(): void;
  /** Releases the reservation, when there will be no image. Never rejects. */
  undo(): Promise<void>;
}

export interface ReservationRequest {
  /** `null`: the upload has no idempotency key. */
  claim: {
    /** See {@link claimName}. */
    name: string;
    /** Of the upload's content, hex: what a repeated upload must have in common with the first. */
    fingerprint: string;
  } | null;
  /** Of the owner. */
  limits: OwnerLimits;
}

export interface ReservationContext {
  claims: Claims;
  owners: OwnerUsage;
  settings: { onError(error: unknown): void };
}

const NOTHING: Reservation = { requireHeld: async () => undefined, settle() {}, undo: async () => undefined };

/**
 * Claims the idempotency key of an upload, and its bytes among those of the owner. Rejects with `conflict` and `forbidden`.
 * @returns instead, the image that an earlier upload with the key made.
 */
export async function reserveImage(
  context: ReservationContext,
  draft: ImageRecord,
  { claim: asked, limits }: ReservationRequest,
): Promise<Reservation | { made: CurrentRecord }> {
  const claim = asked === null ? NOTHING : await claimKey(context, { ...asked, id: draft.id });
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

async function claimKey(
  { claims, settings }: ReservationContext,
  request: Parameters<Claims["claim"]>[0],
): Promise<Reservation | { made: CurrentRecord }> {
  const claim = await claims.claim(request);
  if ("made" in claim) return claim;
  const { renew, end, release } = claim.held;
  return { requireHeld: renew, settle: end, undo: () => release().catch(settings.onError) };
}

async function reserveBytes(
  { owners, settings }: ReservationContext,
  { id, owner }: ImageRecord,
  limits: OwnerLimits,
): Promise<Reservation> {
  if (owner === null) return NOTHING;
  const { name, bytes } = owner;
  await owners.reserve(name, id, bytes, limits);
  return {
    ...NOTHING,
    settle: () => owners.settle(name, id),
    // Not settled: a write that seemed to fail may still be done, and the usage looks for its record. The usage corrects
    // itself also where this fails.
    undo: () => owners.release(name, id, bytes).catch(settings.onError),
  };
}
