/** Runs `work` after all earlier work has settled, whether it failed or not. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Creates a queue that runs one piece of work at a time. */
export function createInTurn(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined); // The caller of that work receives the failure.
    return done;
  };
}
