import type { LifeContext } from "../life/life-context.ts";
import type { OwnerLimits, OwnerUsage } from "../owners/owner-usage.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import type { ClaimRequest, Claims, Reservation } from "./claims.ts";

export interface ReservationRequest {
  /** `null`: the upload has no idempotency key. */
  claim: Omit<ClaimRequest, "id"> | null;
  /** Limits of the owner. */
  limits: OwnerLimits;
}

export interface ReservationContext {
  claims: Claims;
  owners: OwnerUsage;
  settings: { onError(error: unknown): void };
}

const NOTHING: Reservation = { requireHeld: async () => undefined, settle() {}, undo: async () => undefined };

/**
 * Claims the idempotency key of an upload, and reserves its bytes for the owner. Rejects with `conflict` and `forbidden`.
 * @returns the reservation, or the image that an earlier upload with the key created.
 */
export async function reserveImage(
  context: ReservationContext,
  draft: ImageRecord,
  { claim: asked, limits }: ReservationRequest,
): Promise<Reservation | { made: CurrentRecord }> {
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

/**
 * Stores a record with its entry in the index of the owner's images, and with the owner's reservation for it, which is released
 * if `store` rejects or resolves to `false`.
 * @returns the result of `store`.
 */
export async function storeReserved(
  context: Pick<ReservationContext, "owners" | "settings"> & Pick<LifeContext, "addOwned">,
  record: ImageRecord,
  store: () => Promise<boolean>,
): Promise<boolean> {
  const reserved = await reserveBytes(context, record, {});
  let isStored = false;
  try {
    await context.addOwned(record);
    isStored = await store();
  } finally {
    if (isStored) reserved.settle();
    else await reserved.undo();
  }
  return isStored;
}

async function reserveBytes(
  { owners, settings }: Pick<ReservationContext, "owners" | "settings">,
  record: ImageRecord,
  limits: OwnerLimits,
): Promise<Reservation> {
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
