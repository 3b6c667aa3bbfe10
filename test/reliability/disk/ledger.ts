import { createHash } from "node:crypto";
import type { HeldPicture } from "./client.ts";

/** What an operation makes of a picture: its name from then on, or `null` where it deletes it. */
type Outcome = string | null;

interface Step {
  outcome: Outcome;
  begunAt: number;
  /** Infinity while it is not acknowledged. */
  acknowledgedAt: number;
}

/** A picture with all that was done to it, one operation after the other. */
export interface LedgerEntry {
  picture: HeldPicture;
  steps: Step[];
  /** Whether it was still to be processed when it was acknowledged. */
  isPending: boolean;
}

/** A client's account of what it asked for and what was acknowledged, in the order of this process' clock. */
export interface Ledger {
  entries: LedgerEntry[];
  /** Pictures that can be worked on: ready, not deleted, nothing under way. */
  idle(): LedgerEntry[];
  /** Before bytes are uploaded. */
  sending(bytes: Buffer): void;
  created(picture: HeldPicture, name: string, isPending: boolean): void;
  /** Before an operation. @returns to be called when it was acknowledged. */
  begin(entry: LedgerEntry, outcome: Outcome): () => void;
  /** Whether these bytes were uploaded, by whomever. */
  wasSent(bytes: Buffer): boolean;
}

/** @param onAcknowledged is called at every acknowledgement, when it is written down. */
export function createLedger(onAcknowledged: () => void): Ledger {
  const entries: LedgerEntry[] = [];
  const sent = new Set<string>();
  return {
    entries,
    idle: () =>
      entries.filter(({ steps, isPending }) => {
        const last = steps.at(-1);
        return (
          !isPending && last !== undefined && last.outcome !== null && Number.isFinite(last.acknowledgedAt)
        );
      }),
    sending: (bytes) => void sent.add(sha256(bytes)),
    created(picture, name, isPending) {
      const now = performance.now();
      entries.push({ picture, steps: [{ outcome: name, begunAt: now, acknowledgedAt: now }], isPending });
      onAcknowledged();
    },
    begin({ steps }, outcome) {
      const step: Step = {
        outcome,
        begunAt: performance.now(),
        acknowledgedAt: Number.POSITIVE_INFINITY,
      };
      steps.push(step);
      return () => {
        step.acknowledgedAt = performance.now();
        onAcknowledged();
      };
    },
    wasSent: (bytes) => sent.has(sha256(bytes)),
  };
}

/**
 * What a picture may be after a power cut between the two times: what the last operation acknowledged before it made of
 * it, or one that was under way; empty where the picture need not be there.
 */
export function outcomesAt({ steps }: LedgerEntry, fromMs: number, toMs: number): Outcome[] {
  const last = steps.findLastIndex(({ acknowledgedAt }) => acknowledgedAt <= fromMs);
  if (last === -1) return [];
  return steps
    .slice(last)
    .filter(({ begunAt }) => begunAt <= toMs)
    .map(({ outcome }) => outcome);
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
