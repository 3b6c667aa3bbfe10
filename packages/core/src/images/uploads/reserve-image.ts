import type { Call, Upload } from "../../contracts/call.ts";
import type { ImageContext } from "../http/image-context.ts";
import type { OwnerGrant } from "../http/permissions.ts";
import type { ImageRecord } from "../record/image-record.ts";
import { claimName, fingerprintOf } from "./idempotency-key.ts";

/** What is taken on behalf of an image before anything of it is stored. */
export interface Reservation {
  /** Proves, right before the image is stored, that what was taken is still held. Rejects with a 409 problem. */
  confirm(): Promise<void>;
  /** The image is there. */
  settle(): void;
  /** Gives back what was taken, when there will be no image. Never rejects. */
  undo(): Promise<void>;
}

export interface ReservationRequest {
  grant: OwnerGrant | null;
  idempotencyKey: string | null;
}

const NOTHING: Reservation = { confirm: async () => undefined, settle() {}, undo: async () => undefined };

/**
 * Claims the request's `Idempotency-Key`, and room among what the owner may have. Rejects with 409 and `forbidden`.
 * @returns the image instead that an earlier request with the key made: then there is nothing to do.
 */
export async function reserveImage(
  context: ImageContext,
  call: Call,
  received: Upload,
  draft: ImageRecord,
  { grant, idempotencyKey }: ReservationRequest,
): Promise<Reservation | { made: ImageRecord }> {
  const claim =
    idempotencyKey === null ? NOTHING : await claimKey(context, call, received, draft, idempotencyKey);
  if ("made" in claim) return claim;
  try {
    const room = await takeRoom(context, draft, grant);
    return {
      confirm: claim.confirm,
      settle() {
        claim.settle();
        room.settle();
      },
      async undo() {
        await room.undo();
        await claim.undo();
      },
    };
  } catch (error) {
    await claim.undo();
    throw error;
  }
}

async function claimKey(
  { claims, settings }: ImageContext,
  call: Call,
  received: Upload,
  draft: ImageRecord,
  key: string,
): Promise<Reservation | { made: ImageRecord }> {
  const claim = await claims.claim({
    name: claimName(call, key, draft.owner?.name ?? null),
    fingerprint: fingerprintOf(call, received),
    id: draft.id,
  });
  if ("made" in claim) return claim;
  const { renew, end, release } = claim.held;
  return { confirm: renew, settle: end, undo: () => release().catch(settings.onError) };
}

async function takeRoom(
  { owners, settings }: ImageContext,
  { id, owner }: ImageRecord,
  grant: OwnerGrant | null,
): Promise<Reservation> {
  if (owner === null) return NOTHING;
  const { name, bytes } = owner;
  await owners.reserve(name, id, bytes, grant?.limits ?? settings.ownerLimits);
  return {
    ...NOTHING,
    settle: () => owners.settle(name, id),
    // Not settled: a write that seemed to fail may still be done, and the usage looks for its record. It mends itself also
    // where this fails.
    undo: () => owners.release(name, id, bytes).catch(settings.onError),
  };
}
