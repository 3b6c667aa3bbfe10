/** Gives a function that runs works one after another, in the order in which they came, whether or not they fail. */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined); // The caller has the error; here only its end matters.
    return result;
  };
}
