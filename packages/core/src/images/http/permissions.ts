import type { Call } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";
import { checkOwnerLimits } from "../image-settings.ts";
import type { OwnerLimits } from "../owners/owner-usage.ts";
import type { ImageRecord } from "../record/image-record.ts";
import { type ImageSummary, summaryOf } from "../record/image-summary.ts";
import type { ImageContext } from "./image-context.ts";

/** What a client wants to do: upload, see, or change and delete an image. */
export type ImageAction = "create" | "read" | "edit";

/** Who is asking, as the host app knows them. */
export interface OwnerGrant {
  /** 1 to 256 characters, e.g. a user's ID. Kept with what is uploaded, never shown. */
  owner: string;
  /** What this owner may have. @default The service's `ownerLimits` */
  limits?: OwnerLimits;
}

/**
 * `false` refuses (403) and `true` allows; an owner allows to create and read, and to edit what is theirs; nothing
 * (`undefined`) leaves it as it is without `authorize`: everyone may create and read, and who has the PIN may edit.
 */
export type Decision = boolean | OwnerGrant | undefined;

/**
 * Decides about a call before anything is done. `call.context` is the framework's request, with what the host's own
 * middleware found out about the client. May throw a {@link ServiceError}; anything else it throws is a 500.
 *
 * A read that was decided about is for this client alone: shared caches must not keep it (`Cache-Control: private`).
 * Leave reads of public images undecided.
 * @param image is absent for `create`.
 */
export type Authorize = (
  call: Call,
  action: ImageAction,
  image?: ImageSummary,
) => Decision | Promise<Decision>;

const MAX_OWNER_LENGTH = 256;

/** Rejects with `forbidden` when the client may not upload. @returns whose the upload will be. */
export async function permitCreate(context: ImageContext, call: Call): Promise<OwnerGrant | null> {
  const decision = await decide(context, call, "create");
  return typeof decision === "object" ? decision : null;
}

/** Whom a reply may be shown to. */
export type Audience = "public" | "private";

/** Rejects with `forbidden` when the client may not see the image. @returns whether others may be shown the same reply. */
export async function permitRead(context: ImageContext, call: Call, record: ImageRecord): Promise<Audience> {
  if (context.settings.authorize === null) return "public";
  return (await decide(context, call, "read", record)) === undefined ? "public" : "private";
}

/** Rejects with `forbidden` when the client may not change the image. @returns whether they may without the PIN. */
export async function permitEdit(context: ImageContext, call: Call, record: ImageRecord): Promise<boolean> {
  const decision = await decide(context, call, "edit", record);
  return typeof decision === "object" ? decision.owner === record.owner?.name : decision === true;
}

async function decide(
  { settings }: ImageContext,
  call: Call,
  action: ImageAction,
  record?: ImageRecord,
): Promise<Decision> {
  if (settings.authorize === null) return undefined;
  const decision = await (record === undefined
    ? settings.authorize(call, action)
    : settings.authorize(call, action, summaryOf(record)));
  if (decision === false) throw new ServiceError("forbidden", "This is not allowed");
  if (decision === undefined || decision === true) return decision;
  // A host in JavaScript may return anything, such as what its own `&&` comes to: none of it may count as consent.
  if (typeof decision !== "object" || decision === null) {
    throw new ServiceError("host_misuse", "authorize must return true, false, an owner, or nothing");
  }
  return checkGrant(decision);
}

function checkGrant({ owner, limits }: OwnerGrant): OwnerGrant {
  const isName = typeof owner === "string" && owner !== "" && owner.length <= MAX_OWNER_LENGTH;
  if (!isName || /\p{Cs}/u.test(owner)) {
    throw new ServiceError(
      "host_misuse",
      `authorize must name an owner by 1 to ${MAX_OWNER_LENGTH} characters`,
    );
  }
  return limits === undefined ? { owner } : { owner, limits: checkOwnerLimits(limits) };
}
