import { createHash } from "node:crypto";
import type { HeldPicture } from "./client.ts";

/** The name of a picture after an operation; `null` after a delete. */
type Outcome = string | null;

interface Step {
  outcome: Outcome;
  begunAt: number;
  /** Infinity until it is acknowledged. */
  acknowledgedAt: number;
}

/** A picture with all its operations, one after the other. */
export interface LedgerEntry {
  picture: HeldPicture;
  steps: Step[];
  /** Whether the acknowledged picture was still in processing. */
  isPending: boolean;
}

/** A client's record of its requests and acknowledgements, in the order of this process' clock. */
export interface Ledger {
  entries: LedgerEntry[];
  /** Pictures that can be worked on: ready, not deleted, no operation in progress. */
  idle(): LedgerEntry[];
  /** Call before bytes are uploaded. */
  sending(bytes: Buffer): void;
  created(picture: HeldPicture, name: string, isPending: boolean): void;
  /** Call before an operation. @returns a function to call on its acknowledgement. */
  begin(entry: LedgerEntry, outcome: Outcome): () => void;
  /** Whether any client has uploaded these bytes. */
  wasSent(bytes: Buffer): boolean;
}

/** @param onAcknowledged is called after each acknowledgement is recorded. */
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
 * The possible names of a picture after a power cut between the two times: from the last operation acknowledged before
 * the cut, or from one in progress. Empty if the picture need not exist.
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
