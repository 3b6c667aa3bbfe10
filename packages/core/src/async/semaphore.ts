/** Slots for work of which only some may run at a time. */
export class Semaphore {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(slots: number) {
    this.#free = slots;
  }

  /** Resolves when the caller has a slot, in the order of the calls. */
  async acquire(): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
