import type { FairGate } from "../../http/fair-gate.ts";
import type { ImageSettings } from "../image-settings.ts";
import type { Pins } from "../record/pin.ts";
import type { ReadRules } from "../renditions/read-request.ts";
import type { ReservationContext } from "../uploads/add-image.ts";
import type { UploadContext } from "../uploads/store-upload.ts";

/** The parts of a service that the operations of the library use. */
export interface LibraryContext extends UploadContext, ReservationContext {
  settings: ImageSettings;
  imports: FairGate;
  pins: Pins;
  reads: ReadRules;
}
