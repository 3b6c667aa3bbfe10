import { isIP } from "node:net";
import type { ProbeResult } from "@outrigger/core/lookup";
import { type MailHost, ranksOf } from "./dns/mail-route.ts";
import { deniesMailbox, type Failure, type Outcome, type RecipientAnswer } from "./smtp/converse.ts";
import type { Refusal } from "./smtp/read-refusal.ts";

/** The result while nothing is known. */
export const NOTHING: ProbeResult = {
  routing: "unknown",
  server: null,
  mailbox: null,
  acceptsAll: null,
  reason: null,
  retryAfterMs: null,
};

const TEMPORARY_MS = 600_000;
/** The part of a result whose denial does not count. */
export const UNCONFIRMED = { reason: "temporary", retryAfterMs: TEMPORARY_MS } as const;
/** Default wait before a retry after a temporary refusal without a given time. Greylisting has its own rule. */
const PRESETS_MS: Partial<Record<Refusal["reason"], number>> = {
  temporary: TEMPORARY_MS,
  policy: 3_600_000,
  mailbox_full: 3_600_000,
};

/** Derives the result from the outcome of a conversation. @param found The result before the conversation. */
export function readOutcome(found: ProbeResult, outcome: Outcome, acceptsAll: boolean | null): ProbeResult {
  const { kind } = outcome;
  if (kind === "failed") {
    // A greeting before the failure proves that there is a mail server.
    const server = outcome.hasSpoken || found.server === true;
    const reason = failureReason(outcome.failure, outcome.hasSpoken);
    return { ...found, server, reason, retryAfterMs: reason === "temporary" ? TEMPORARY_MS : null };
  }
  const spoken: ProbeResult = { ...found, server: true, reason: null, retryAfterMs: null };
  if (kind === "ascii_only") return { ...spoken, reason: "ascii_only" };
  if (kind === "refused") return withRefusal(spoken, outcome.refusal);
  const { target, madeUp } = outcome;
  if (target !== "accepted") return readTargetRefusal({ ...spoken, acceptsAll }, target, outcome);
  if (madeUp === null) return { ...spoken, mailbox: true, acceptsAll };
  if (typeof madeUp === "string" && madeUp !== "accepted") {
    return { ...spoken, mailbox: true, reason: failureReason(madeUp, true) };
  }
  const acceptsMadeUp = readMadeUp(madeUp);
  if (acceptsMadeUp === true) return { ...spoken, acceptsAll: true, reason: "accepts_all" };
  if (acceptsMadeUp === false) return { ...spoken, mailbox: true, acceptsAll: false };
  return withRefusal({ ...spoken, mailbox: true }, madeUp as Refusal); // Only a refusal yields `null`.
}

/** A denial counts only if the same connection then accepted the control, and denied the mailbox when it was asked again. */
function readTargetRefusal(
  spoken: ProbeResult,
  refusal: Refusal,
  { control, repeated }: Pick<Outcome & { kind: "answered" }, "control" | "repeated">,
): ProbeResult {
  if (!deniesMailbox(refusal)) return withRefusal(spoken, refusal);
  if (control === "accepted" && (repeated === null || deniesMailbox(repeated))) {
    const denied = { ...withRefusal(spoken, refusal), mailbox: false };
    return refusal.reason === "user_unknown" ? { ...denied, acceptsAll: false } : denied;
  }
  // The host denies every mailbox: it means something else.
  if (deniesMailbox(control)) return { ...spoken, reason: "policy" };
  const unclear = control === "accepted" ? repeated : control;
  if (typeof unclear === "object" && unclear !== null) {
    // The host named the mailbox, so whatever it has against the control is no block.
    return withRefusal(
      spoken,
      unclear.reason === "greylisted" ? unclear : { ...unclear, reason: "temporary" },
    );
  }
  const reason = unclear === null || unclear === "accepted" ? "temporary" : failureReason(unclear, true);
  return { ...spoken, reason, retryAfterMs: TEMPORARY_MS };
}

/**
 * Whether a denial counts, because no equal or better host can know the mailbox: each denied it at one address, and no
 * other address that was asked gave another answer. IPv6 may be unreachable beside IPv4, and the reverse.
 * @param answers of each address that was asked.
 */
export function isConfirmed(
  hosts: readonly MailHost[],
  deniedRank: number,
  answers: ReadonlyMap<string, ProbeResult>,
): boolean {
  const equals = ranksOf(hosts).flatMap((rank, index) => (rank <= deniedRank ? (hosts[index] ?? []) : []));
  return equals.every(({ addresses }) => {
    const isDenied = (address: string) => answers.get(address)?.mailbox === false;
    const families = addresses.filter(isDenied).map(isIP);
    const others = [...answers].filter(([address]) => addresses.includes(address) && !isDenied(address));
    const isLess = ([address, { reason }]: [string, ProbeResult]) =>
      reason === "no_connection" && !families.includes(isIP(address));
    return families.length > 0 && others.every(isLess);
  });
}

/**
 * `false` if the host refuses the made-up name permanently and not for a reason about the sender; `null` if
 * unclear.
 */
function readMadeUp(answer: RecipientAnswer): boolean | null {
  if (answer === "accepted") return true;
  const { reason, isPermanent, isAmbiguous } = answer;
  return isPermanent && (isAmbiguous || !["policy", "protocol"].includes(reason)) ? false : null;
}

function withRefusal(found: ProbeResult, { reason, isPermanent, retryAfterMs }: Refusal): ProbeResult {
  return {
    ...found,
    reason,
    retryAfterMs: isPermanent ? null : (retryAfterMs ?? PRESETS_MS[reason] ?? null),
  };
}

function failureReason(failure: Failure, hasSpoken: boolean): NonNullable<ProbeResult["reason"]> {
  switch (failure) {
    case "unreachable":
    case "closed":
      // A host that closes the connection without a greeting counts as unreachable.
      return hasSpoken ? "temporary" : "no_connection";
    case "protocol":
      return "protocol";
    case "timeout":
    case "aborted":
      return "timeout";
  }
}

/** Whether no further host is tried: this one has answered otherwise than by a denial, or refuses this sender. */
export function isLast(outcome: Outcome, { reason }: ProbeResult): boolean {
  if (outcome.kind === "answered") return !deniesMailbox(outcome.target) || reason === "greylisted";
  if (outcome.kind !== "refused") return false;
  return outcome.refusal.reason === "policy" || outcome.refusal.reason === "greylisted";
}

/** Of two results without an answer, keeps the more informative one. A denial is none before it is confirmed. */
export function moreInformative(one: ProbeResult, other: ProbeResult): ProbeResult {
  if (other.mailbox === false) return { ...one, server: true };
  const isBetter = one.reason === null || one.reason === "no_connection" || one.server !== true;
  return { ...(isBetter ? other : one), server: one.server === true || other.server === true };
}
