import type { SpooledFile } from "../../contracts/call.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import type { Reservation } from "../uploads/claims.ts";
import { describeUpload, type UploadFacts } from "../uploads/describe-upload.ts";
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
