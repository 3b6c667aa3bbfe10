/** Number of results that are kept. */
const MAX_RESULTS = 5000;

/** A function with a cache of its results, for texts that repeat: titles, names. When the cache is full, it starts anew. */
export function memoized<Text extends string, Result>(
  compute: (text: Text) => Result,
): (text: Text) => Result {
  const results = new Map<Text, Result>();
  return (text) => {
    let result = results.get(text);
    if (result === undefined) {
      result = compute(text);
      if (results.size >= MAX_RESULTS) results.clear();
      results.set(text, result);
    }
    return result;
  };
}
