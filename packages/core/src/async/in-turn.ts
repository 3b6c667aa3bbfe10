/** Runs `work` after all earlier work has settled; a failure of that does not matter to it. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** One line of work. */
export function createInTurn(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined); // Its caller has the failure.
    return done;
  };
}
