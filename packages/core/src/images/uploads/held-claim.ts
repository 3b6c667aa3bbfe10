/** A claim that nobody renews ends after this time; its holder is then taken for dead. */
export const CLAIM_MS = 15_000;
const HEARTBEAT_MS = 5_000;

/** The right to make the image that an `Idempotency-Key` stands for. */
export interface HeldClaim {
  /** Proves the right, right before the image is stored. Rejects when another request has it by now. */
  confirm(): Promise<void>;
  /** The image is there: the right is not needed any more. */
  end(): void;
  /** There will be no image: the key is free again. */
  giveBack(): Promise<void>;
}

export interface HoldClaimOptions {
  /** Prolongs the claim by compare-and-set; rejects when it was taken over. */
  renew(): Promise<void>;
  remove(): Promise<void>;
  /** Told of renewals that failed: the claim may still be confirmed. */
  onError(error: unknown): void;
}

/** Holds a claim that was just written, renewing it by itself until it ends. */
export function holdClaim({ renew, remove, onError }: HoldClaimOptions): HeldClaim {
  let turn: Promise<unknown> = Promise.resolve();
  const heartbeat = setInterval(() => void renewInTurn().catch(onError), HEARTBEAT_MS).unref();

  /** One after the other: each is compared with the one before. */
  function renewInTurn(): Promise<void> {
    const renewed = turn.then(renew);
    turn = renewed.catch(() => undefined);
    return renewed;
  }

  return {
    confirm: renewInTurn,
    end: () => clearInterval(heartbeat),
    async giveBack() {
      clearInterval(heartbeat);
      await turn;
      await remove();
    },
  };
}
