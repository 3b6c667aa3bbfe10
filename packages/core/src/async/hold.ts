export interface HoldOptions {
  /** Time after which others may presume a holder dead that did not renew, in milliseconds. */
  heldMs: number;
  /** Extends the right by `heldMs`. @returns whether this process still had it. */
  renew(): Promise<boolean>;
  /** Called once, when a renewal finds that the right is lost. */
  onLost?(): void;
  /** Receives errors of renewals by the timer. The next one tries again. */
  onError(error: unknown): void;
}

/**
 * A right that this process has for a while: a lease or a claim. A timer renews it until it ends or is lost. The timer
 * does not keep the process alive. One renewal runs at a time, since each may depend on what the one before wrote.
 *
 * It does not prove that the right is held: either the last write is a compare-and-set against the last renewal, or two
 * holders at once do no harm.
 */
export class Hold {
  readonly #options: HoldOptions;
  readonly #timer: NodeJS.Timeout;
  /** The last write so far. */
  #last: Promise<unknown> = Promise.resolve();
  #isLost = false;

  constructor(options: HoldOptions) {
    this.#options = options;
    const beat = () => void this.renew().catch(options.onError);
    this.#timer = setInterval(beat, options.heldMs / 3).unref();
  }

  /** Renews now. @returns whether the right is still held. */
  renew(): Promise<boolean> {
    return this.#whileHeld(this.#options.renew);
  }

  /** Stops the renewals: the right is no longer needed, or expires. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * Stops the renewals, waits for one under way, and runs the last write, which releases the right.
   * @param last Resolves to whether the right was held. Not called if it is lost.
   * @returns whether the right was held until then.
   */
  end(last: () => Promise<boolean>): Promise<boolean> {
    this.stop();
    return this.#whileHeld(last);
  }

  #whileHeld(write: () => Promise<boolean>): Promise<boolean> {
    const done = this.#last.then(async () => {
      if (this.#isLost) return false;
      const isHeld = await write();
      if (!isHeld) {
        this.#isLost = true;
        this.stop();
        this.#options.onLost?.();
      }
      return isHeld;
    });
    this.#last = done.catch(() => undefined); // The caller of that write receives the failure.
    return done;
  }
}
