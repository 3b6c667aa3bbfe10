/** The first of `length` indexes for which a condition holds; `length` without one. It must hold for all behind that, too. */
export function lowerBound(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
