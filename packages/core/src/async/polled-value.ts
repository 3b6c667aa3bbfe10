/** A value of a store for gauges, which are read at once: each read returns the last value, and looks again in the background. */
export class PolledValue<T> {
  readonly #look: () => Promise<T>;
  #value: T;
  #looking: Promise<void> | null = null;

  /** @param look Its failures are ignored, and the last value stays: other work of the store reports them. */
  constructor(value: T, look: () => Promise<T>) {
    this.#value = value;
    this.#look = look;
  }

  read(): T {
    this.#looking ??= this.#look()
      .then((value) => {
        this.#value = value;
      })
      .catch(() => undefined)
      .finally(() => {
        this.#looking = null;
      });
    return this.#value;
  }
}
