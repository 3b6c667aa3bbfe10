import { deniesMailbox, type Outcome } from "./smtp/converse.ts";

/**
 * Which control follows a denied mailbox, for each domain. Each denial has a control of its own, because a host may
 * begin or cease at any time to deny every mailbox, and several machines can share an address.
 */
export interface Controls {
  /** `repeats`: the last control was not accepted, so a denied mailbox is asked about once more after the control. */
  of(domain: string, local: string): { control: string; repeats: boolean };
  /** @param hasNames whether the domain is known not to accept every name. */
  note(domain: string, local: string, outcome: Outcome, hasNames: boolean): void;
  forget(domain: string, local: string): void;
}

/** The mailbox that every domain has (RFC 5321 §4.5.1), although many have none. */
const POSTMASTER = "postmaster";
/** How long a mailbox that was accepted serves as control of its domain. */
const ACCEPTED_MS = 3_600_000;
/** Maximum number of entries; the oldest is evicted first. */
const MAX_DOMAINS = 1000;

/** The entries stay in this process: they contain addresses. */
export function createControls(now: () => number): Controls {
  const accepted = new Map<string, { local: string; atMs: number }>();
  const failed = new Map<string, true>();

  return {
    of(domain, local) {
      const known = accepted.get(domain);
      const isFit = known !== undefined && !isSame(known.local, local) && now() - known.atMs < ACCEPTED_MS;
      return { control: isFit ? known.local : POSTMASTER, repeats: failed.has(domain) };
    },
    note(domain, local, outcome, hasNames) {
      if (outcome.kind !== "answered") return;
      const { target, control, repeated } = outcome;
      // Others need SMTPUTF8, which a conversation about an ASCII name does not ask for.
      const isAscii = /^[\0-\x7f]*$/.test(local);
      if (target === "accepted" && hasNames && isAscii) keep(accepted, domain, { local, atMs: now() });
      if (control === null) return;
      if (control === "accepted" && (repeated === null || deniesMailbox(repeated))) failed.delete(domain);
      else keep(failed, domain, true);
    },
    forget(domain, local) {
      if (isSame(accepted.get(domain)?.local ?? "", local)) accepted.delete(domain);
    },
  };
}

function isSame(local: string, other: string): boolean {
  return local.toLowerCase() === other.toLowerCase();
}

function keep<T>(entries: Map<string, T>, domain: string, value: T): void {
  entries.delete(domain);
  entries.set(domain, value);
  for (const oldest of entries.keys()) {
    if (entries.size <= MAX_DOMAINS) break;
    entries.delete(oldest);
  }
}
