import type { Call } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";
import {
  type Authorize,
  type Decision,
  type ImageAction,
  isOwnerName,
  MAX_OWNER_LENGTH,
  type OwnerGrant,
} from "../authorize.ts";
import { checkOwnerLimits } from "../image-settings.ts";
import type { ImageRecord } from "../record/image-record.ts";
import { summaryOf } from "../record/image-summary.ts";

/** Whether other clients may get the same reply from a cache. */
export type Audience = "public" | "private";

/** Decisions of the host about requests. Each rejects with `forbidden` if the host refuses. */
export interface Permissions {
  /** Whether the host decides, which may take time. */
  readonly areAsked: boolean;
  /** @returns The owner of the upload; `null`: none. */
  permitCreate(call: Call): Promise<OwnerGrant | null>;
  permitRead(call: Call, record: ImageRecord): Promise<Audience>;
  /** @returns Whether the client may edit without the PIN. */
  permitEdit(call: Call, record: ImageRecord): Promise<boolean>;
}

/** @param authorize `null`: everyone may create and read, and the PIN edits. */
export function createPermissions(authorize: Authorize | null): Permissions {
  async function decide(call: Call, action: ImageAction, record?: ImageRecord): Promise<Decision> {
    if (authorize === null) return undefined;
    const decision = await (record === undefined
      ? authorize(call, action)
      : authorize(call, action, summaryOf(record)));
    if (decision === false) throw new ServiceError("forbidden", "This is not allowed");
    if (decision === undefined || decision === true) return decision;
    // A JavaScript host may return anything, such as the result of `a && b`. No other value may count as consent.
    if (typeof decision !== "object" || decision === null) {
      throw new ServiceError("host_misuse", "authorize must return true, false, an owner, or nothing");
    }
    return checkGrant(decision);
  }

  return {
    areAsked: authorize !== null,
    async permitCreate(call) {
      const decision = await decide(call, "create");
      return typeof decision === "object" ? decision : null;
    },
    async permitRead(call, record) {
      if (authorize === null) return "public";
      return (await decide(call, "read", record)) === undefined ? "public" : "private";
    },
    async permitEdit(call, record) {
      const decision = await decide(call, "edit", record);
      return typeof decision === "object" ? decision.owner === record.owner?.name : decision === true;
    },
  };
}

function checkGrant({ owner, limits }: OwnerGrant): OwnerGrant {
  if (!isOwnerName(owner)) {
    throw new ServiceError(
      "host_misuse",
      `authorize must return an owner of 1 to ${MAX_OWNER_LENGTH} characters`,
    );
  }
  return limits === undefined
    ? { owner }
    : { owner, limits: checkOwnerLimits("limits of authorize", limits) };
}
