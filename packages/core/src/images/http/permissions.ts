import type { Call } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";
import {
  type Authorize,
  type Decision,
  isOwnerName,
  MAX_OWNER_LENGTH,
  type OwnerGrant,
} from "../authorize.ts";
import { checkOwnerLimits } from "../image-settings.ts";
import type { CheckedLimits } from "../owners/owner-usage.ts";
import { type ImageRecord, summaryOf } from "../record/image-record.ts";

/** Whether other clients may get the same reply from a cache. */
export type Audience = "public" | "private";

/** An owner whose limits are numbers. */
export interface CheckedGrant {
  owner: string;
  limits?: CheckedLimits;
  all?: boolean;
}

type CheckedDecision = boolean | CheckedGrant | undefined;

/** Decisions of the host about requests. Each rejects with `forbidden` if the host refuses. */
export class Permissions {
  readonly #authorize: Authorize | null;
  readonly #isSigned: (call: Call, id: string) => boolean;
  /** Decisions that {@link permitReadNow} did not wait for. */
  readonly #begun = new WeakMap<Call, { record: ImageRecord; decision: Promise<CheckedDecision> }>();
  /** Whether the host decides, which may take time. */
  readonly areAsked: boolean;

  /**
   * @param authorize `null`: everyone may create and read, and the PIN edits.
   * @param isSigned Whether the address of a read is signed by the host as a permission.
   */
  constructor(authorize: Authorize | null, isSigned: (call: Call, id: string) => boolean) {
    this.#authorize = authorize;
    this.#isSigned = isSigned;
    this.areAsked = authorize !== null;
  }

  /** @returns The owner of the upload; `null`: none. */
  async permitCreate(call: Call): Promise<CheckedGrant | null> {
    const decision = checkDecision(await this.#authorize?.(call, "create"));
    return typeof decision === "object" ? decision : null;
  }

  /**
   * Only an explicit `all` permits it: a host that decides alike about every action may give one owner to many clients.
   * @returns The owner whose images are listed or deleted.
   */
  async permitOwner(call: Call, action: "list" | "removeAll"): Promise<string> {
    const decision = checkDecision(await this.#authorize?.(call, action));
    if (typeof decision === "object" && decision.all === true) return decision.owner;
    throw new ServiceError("forbidden", "The host permits this for no owner");
  }

  async permitRead(call: Call, record: ImageRecord): Promise<Audience> {
    if (this.#authorize === null) return "public";
    const early = this.#begun.get(call);
    if (early?.record === record) return audienceOf(await early.decision);
    if (this.#isSigned(call, record.id)) call.signed = true;
    const audience = audienceOf(checkDecision(await this.#authorize(call, "read", summaryOf(record))));
    // Its reply must not outlive the address in a cache that others use.
    return call.signed === true ? "private" : audience;
  }

  /**
   * As {@link permitRead}, without a promise. `undefined`: the host refuses, or has not decided yet; {@link permitRead} of the
   * same call then ends as the host does, without asking it again.
   */
  permitReadNow(call: Call, record: ImageRecord): Audience | undefined {
    if (this.#authorize === null) return "public";
    let decision: Promise<CheckedDecision>;
    try {
      const given = this.#authorize(call, "read", summaryOf(record));
      if (!isPromise(given)) return audienceOf(checkDecision(given));
      decision = Promise.resolve(given).then(checkDecision);
    } catch (error) {
      decision = Promise.reject(error);
    }
    // `permitRead` gets the failure. It may be called after the decision.
    decision.catch(() => undefined);
    this.#begun.set(call, { record, decision });
    return undefined;
  }

  /** @returns Whether the client may edit without the PIN. */
  async permitEdit(call: Call, record: ImageRecord): Promise<boolean> {
    const decision = checkDecision(await this.#authorize?.(call, "edit", summaryOf(record)));
    return typeof decision === "object" ? decision.owner === record.owner?.name : decision === true;
  }
}

function isPromise(decision: ReturnType<Authorize>): decision is Promise<Decision> {
  return typeof decision === "object" && decision !== null && "then" in decision;
}

/** A decision holds for its client alone. */
function audienceOf(decision: CheckedDecision): Audience {
  return decision === undefined ? "public" : "private";
}

function checkDecision(decision: Decision): CheckedDecision {
  if (decision === false) throw new ServiceError("forbidden", "This is not allowed");
  if (decision === undefined || decision === true) return decision;
  // A JavaScript host may return anything, such as the result of `a && b`. No other value may count as consent.
  if (typeof decision !== "object" || decision === null) {
    throw new ServiceError("host_misuse", "authorize must return true, false, an owner, or nothing");
  }
  return checkGrant(decision);
}

function checkGrant({ owner, limits, all = false }: OwnerGrant): CheckedGrant {
  if (!isOwnerName(owner)) {
    throw new ServiceError(
      "host_misuse",
      `authorize must return an owner of 1 to ${MAX_OWNER_LENGTH} characters`,
    );
  }
  return limits === undefined
    ? { owner, all }
    : { owner, all, limits: checkOwnerLimits("limits of authorize", limits) };
}
