import type { Call } from "../contracts/call.ts";
import type { OwnerLimits } from "./owners/owner-usage.ts";
import type { ImageSummary } from "./record/image-record.ts";

/**
 * What a request does: upload an image, read it, or change or delete it; list or delete all images of an owner, which only a
 * decision with {@link OwnerGrant.all} permits.
 */
export type ImageAction = "create" | "read" | "edit" | "list" | "removeAll";

/** The owner behind a request, as the host app knows it. */
export interface OwnerGrant {
  /** 1 to 256 characters, e.g. a user ID. Stored with each upload, never shown. */
  owner: string;
  /** Limits of this owner. @default The service's `ownerLimits` */
  limits?: OwnerLimits;
  /** Whether this client may list and delete all images of the owner. @default false */
  all?: boolean;
}

/**
 * `false` refuses the request (403), `true` allows it. An owner may create and read, and may edit its own images.
 * `undefined` applies the defaults: everyone may create and read, and the PIN allows editing.
 */
export type Decision = boolean | OwnerGrant | undefined;

/**
 * Decides about a request before any work is done. `call.context` is the framework's request, with what the host's
 * own middleware knows about the client; in TypeScript, `call: Call<Request>` types it. May throw a `ServiceError`; any other error answers 500. Calls in code skip
 * it.
 *
 * A decision about a read holds for this client alone, so shared caches must not store the reply (`Cache-Control:
 * private`). Return `undefined` for reads of public images.
 * @param image Present for `read` and `edit`.
 */
export type Authorize = (
  call: Call,
  action: ImageAction,
  image?: ImageSummary,
) => Decision | Promise<Decision>;

/** Maximum length of an owner's name in characters. */
export const MAX_OWNER_LENGTH = 256;

/** Whether a value is a valid owner. Lone surrogates are not: UTF-8 cannot store them. */
export function isOwnerName(name: unknown): name is string {
  return typeof name === "string" && name !== "" && name.length <= MAX_OWNER_LENGTH && !/\p{Cs}/u.test(name);
}
