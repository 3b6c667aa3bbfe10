import { once } from "node:events";
import { deniesMailbox, type Outcome } from "./smtp/converse.ts";

/** `accepted`: the mailbox that was accepted last. `acceptedAllAtMs`: when the domain was last found to accept all. */
type Known = { accepted: string | null; acceptedAtMs: number; hasFailed: boolean; acceptedAllAtMs: number };

type MayAsk = (address: string) => Promise<boolean>;

const UNKNOWN: Known = { accepted: null, acceptedAtMs: 0, hasFailed: false, acceptedAllAtMs: -1 };
/** The mailbox that every domain has (RFC 5321 §4.5.1), although many have none. */
const POSTMASTER = "postmaster";
/** How long a mailbox that was accepted serves as control of its domain. */
const ACCEPTED_MS = 3_600_000;
/** Maximum number of domains; the oldest entry is evicted first. */
const MAX_DOMAINS = 1000;

export type Controls = ReturnType<typeof createControls>;

/**
 * Chooses the control that follows a denied mailbox on the same connection. Each denial has one, because a host may
 * begin or cease at any time to deny every mailbox, and several machines can share an address. The entries contain
 * addresses, so they stay in this process.
 */
export function createControls(now: () => number) {
  const domains = new Map<string, Known>();

  return {
    of(domain: string): { hasFailed: boolean; acceptedAllAtMs: number } {
      return domains.get(domain) ?? UNKNOWN;
    },
    /** Resolves at once when `signal` aborts. */
    async choose(domain: string, local: string, signal: AbortSignal, mayAsk?: MayAsk): Promise<string> {
      const { accepted, acceptedAtMs } = domains.get(domain) ?? UNKNOWN;
      if (accepted === null || accepted === local || now() - acceptedAtMs >= ACCEPTED_MS) return POSTMASTER;
      if (signal.aborted) return POSTMASTER;
      const aborted = once(signal, "abort").then(() => false);
      // The caller learns of a failure of its store by its own means.
      const answer = mayAsk?.(`${accepted}@${domain}`).catch(() => false);
      return (await Promise.race([answer, aborted])) ? accepted : POSTMASTER;
    },
    note(domain: string, local: string, outcome: Outcome, acceptsAll: boolean | null): void {
      if (outcome.kind !== "answered") return;
      const { target, control, repeated } = outcome;
      const known = { ...(domains.get(domain) ?? UNKNOWN) };
      if (acceptsAll === true) known.acceptedAllAtMs = now();
      if (control !== null) {
        known.hasFailed = control !== "accepted" || (repeated !== null && !deniesMailbox(repeated));
      }
      // Other names need SMTPUTF8, which a conversation about an ASCII name does not ask for.
      if (target === "accepted" && acceptsAll === false && /^[\0-\x7f]*$/.test(local)) {
        Object.assign(known, { accepted: local, acceptedAtMs: now() });
      }
      domains.delete(domain);
      domains.set(domain, known);
      const [oldest = ""] = domains.keys();
      if (domains.size > MAX_DOMAINS) domains.delete(oldest);
    },
    forget(domain: string, local: string): void {
      const known = domains.get(domain);
      if (known?.accepted?.toLowerCase() === local.toLowerCase()) known.accepted = null;
    },
  };
}
