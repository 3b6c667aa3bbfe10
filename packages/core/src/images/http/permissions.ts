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
import { type ImageRecord, summaryOf } from "../record/image-record.ts";

/** Whether other clients may get the same reply from a cache. */
export type Audience = "public" | "private";

/** Decisions of the host about requests. Each rejects with `forbidden` if the host refuses. */
export interface Permissions {
  /** Whether the host decides, which may take time. */
  readonly areAsked: boolean;
  /** @returns The owner of the upload; `null`: none. */
  permitCreate(call: Call): Promise<OwnerGrant | null>;
  permitRead(call: Call, record: ImageRecord): Promise<Audience>;
  /**
   * As {@link permitRead}, without a promise. `undefined`: the host refuses, or has not decided yet; {@link permitRead} of the
   * same call then ends as the host does, without asking it again.
   */
  permitReadNow(call: Call, record: ImageRecord): Audience | undefined;
  /** @returns Whether the client may edit without the PIN. */
  permitEdit(call: Call, record: ImageRecord): Promise<boolean>;
}

/** @param authorize `null`: everyone may create and read, and the PIN edits. */
export function createPermissions(authorize: Authorize | null): Permissions {
  /** Decisions that {@link Permissions.permitReadNow} did not wait for. */
  const begun = new WeakMap<Call, { record: ImageRecord; decision: Promise<Decision> }>();

  async function decide(call: Call, action: ImageAction, record?: ImageRecord): Promise<Decision> {
    if (authorize === null) return undefined;
    return checkDecision(
      await (record === undefined ? authorize(call, action) : authorize(call, action, summaryOf(record))),
    );
  }

  function begin(call: Call, record: ImageRecord, decision: Promise<Decision>): undefined {
    begun.set(call, { record, decision });
    // `permitRead` gets the failure. It may be called after the decision.
    decision.catch(() => undefined);
  }

  return {
    areAsked: authorize !== null,
    async permitCreate(call) {
      const decision = await decide(call, "create");
      return typeof decision === "object" ? decision : null;
    },
    async permitRead(call, record) {
      if (authorize === null) return "public";
      const early = begun.get(call);
      return audienceOf(await (early?.record === record ? early.decision : decide(call, "read", record)));
    },
    permitReadNow(call, record) {
      if (authorize === null) return "public";
      try {
        const decision = authorize(call, "read", summaryOf(record));
        if (!isPromise(decision)) return audienceOf(checkDecision(decision));
        return begin(call, record, Promise.resolve(decision).then(checkDecision));
      } catch (error) {
        return begin(call, record, Promise.reject(error));
      }
    },
    async permitEdit(call, record) {
      const decision = await decide(call, "edit", record);
      return typeof decision === "object" ? decision.owner === record.owner?.name : decision === true;
    },
  };
}

function isPromise(decision: ReturnType<Authorize>): decision is Promise<Decision> {
  return typeof decision === "object" && decision !== null && "then" in decision;
}

/** A decision holds for its client alone. */
function audienceOf(decision: Decision): Audience {
  return decision === undefined ? "public" : "private";
}

function checkDecision(decision: Decision): Decision {
  if (decision === false) throw new ServiceError("forbidden", "This is not allowed");
  if (decision === undefined || decision === true) return decision;
  // A JavaScript host may return anything, such as the result of `a && b`. No other value may count as consent.
  if (typeof decision !== "object" || decision === null) {
    throw new ServiceError("host_misuse", "authorize must return true, false, an owner, or nothing");
  }
  return checkGrant(decision);
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
