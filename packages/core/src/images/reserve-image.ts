import type { Call, Upload } from "../contracts/call.ts";
import { claimName, fingerprintOf } from "./idempotency/idempotency-key.ts";
import type { ImageContext } from "./image-context.ts";
import type { ImageRecord } from "./image-record.ts";
import type { OwnerGrant } from "./permissions.ts";

/** What is taken on behalf of an image before anything of it is stored. */
export interface Reservation {
  /** The image that an earlier request with the same `Idempotency-Key` made: then there is nothing to do. */
  earlier: ImageRecord | null;
  /** Gives back what was taken, when there will be no image. Never rejects. */
  undo(): Promise<void>;
}

export interface ReservationRequest {
  grant: OwnerGrant | null;
  idempotencyKey: string | null;
}

const NOTHING_TAKEN: Reservation = { earlier: null, undo: async () => undefined };

/** Claims the request's `Idempotency-Key`, and room among what the owner may have. Rejects with 409 and `forbidden`. */
export async function reserveImage(
  context: ImageContext,
  call: Call,
  received: Upload,
  draft: ImageRecord,
  { grant, idempotencyKey }: ReservationRequest,
): Promise<Reservation> {
  const claimed =
    idempotencyKey === null ? NOTHING_TAKEN : await claim(context, call, received, draft, idempotencyKey);
  if (claimed.earlier !== null) return claimed;
  try {
    const room = await takeRoom(context, draft, grant);
    return {
      earlier: null,
      async undo() {
        await room.undo();
        await claimed.undo();
      },
    };
  } catch (error) {
    await claimed.undo();
    throw error;
  }
}

async function claim(
  { claims, settings }: ImageContext,
  call: Call,
  received: Upload,
  draft: ImageRecord,
  key: string,
): Promise<Reservation> {
  const made = await claims.claim({
    name: claimName(call, key, draft.owner?.name ?? null),
    fingerprint: fingerprintOf(call, received),
    id: draft.id,
  });
  if (made.record !== null) return { ...NOTHING_TAKEN, earlier: made.record };
  return { earlier: null, undo: () => made.giveBack().catch(settings.onError) };
}

async function takeRoom(
  { owners, settings }: ImageContext,
  { id, owner }: ImageRecord,
  grant: OwnerGrant | null,
): Promise<Reservation> {
  if (owner === null) return NOTHING_TAKEN;
  await owners.reserve(owner.name, id, owner.bytes, grant?.limits ?? settings.ownerLimits);
  return {
    earlier: null,
    async undo() {
      try {
        // Not settled: a write that seemed to fail may still be done, and the usage looks for its record.
        await owners.release(owner.name, id, owner.bytes);
      } catch (error) {
        // The usage mends itself when it finds no image.
        settings.onError(error);
      }
    },
  };
}
