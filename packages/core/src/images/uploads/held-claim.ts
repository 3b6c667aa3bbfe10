import { startHeartbeat } from "../../async/heartbeat.ts";
import { createInTurn } from "../../async/in-turn.ts";

/** A claim that is not renewed ends after this time; its holder is then presumed dead. */
export const CLAIM_MS = 15_000;
const HEARTBEAT_MS = 5_000;

/** The right to make the image that an `Idempotency-Key` stands for. */
export interface HeldClaim {
  /** Proves the right, right before the image is stored. Rejects when another request has it by now. */
  renew(): Promise<void>;
  /** The image is stored: the right is not needed any more. */
  end(): void;
  /** There will be no image: frees the key. */
  release(): Promise<void>;
}

export interface HoldClaimOptions {
  /** Prolongs the claim by compare-and-set; rejects when another request has it by now. */
  renew(): Promise<void>;
  remove(): Promise<void>;
  /** Gets errors of renewals: the claim may still be held. */
  onError(error: unknown): void;
}

/** Holds a claim that was just written, and renews it until it ends. */
export function holdClaim({ renew, remove, onError }: HoldClaimOptions): HeldClaim {
  // Each renewal is compared with the one before.
  const inTurn = createInTurn();
  const renewInTurn = () => inTurn(renew);
  const end = startHeartbeat(HEARTBEAT_MS, renewInTurn, onError);
  return {
    renew: renewInTurn,
    end,
    release() {
      end();
      return inTurn(remove);
    },
  };
}
