import type { Call } from "../contracts/call.ts";
import type { OwnerLimits } from "./owners/owner-usage.ts";
import type { ImageSummary } from "./record/image-summary.ts";

/** What a client asks to do: upload, see, or change and delete an image. */
export type ImageAction = "create" | "read" | "edit";

/** The client of a request, as the host app knows it. */
export interface OwnerGrant {
  /** 1 to 256 characters, e.g. a user's ID. Kept with each upload, never shown. */
  owner: string;
  /** Limits of this owner. @default The service's `ownerLimits` */
  limits?: OwnerLimits;
}

/**
 * `false` refuses (403) and `true` allows. An owner may create and read, and edit its own images. `undefined` leaves the
 * defaults: everyone may create and read, and the PIN allows to edit.
 */
export type Decision = boolean | OwnerGrant | undefined;

/**
 * Decides about a request before any work is done. `call.context` is the framework's request, with what the host's own
 * middleware knows about the client. May throw a `ServiceError`; any other error is a 500. Calls in code do not ask it.
 *
 * A decision about a read holds for this client alone: shared caches must not keep the reply (`Cache-Control: private`).
 * Leave reads of public images undecided.
 * @param image is absent for `create`.
 */
export type Authorize = (
  call: Call,
  action: ImageAction,
  image?: ImageSummary,
) => Decision | Promise<Decision>;

/** Characters of an owner's name at most. */
export const MAX_OWNER_LENGTH = 256;

/** Whether an image can belong to such an owner. Half surrogate pairs cannot be stored as UTF-8. */
export function isOwnerName(name: unknown): name is string {
  return typeof name === "string" && name !== "" && name.length <= MAX_OWNER_LENGTH && !/\p{Cs}/u.test(name);
}
