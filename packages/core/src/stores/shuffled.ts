import { randomInt } from "node:crypto";

/** Shuffled with equal probability of every order (Fisher–Yates). */
export function shuffled<T>(items: readonly T[]): T[] {
  const order = items.map((_, index) => index);
  for (let last = order.length - 1; last > 0; last--) {
    const other = randomInt(last + 1);
    [order[last], order[other]] = [order[other] ?? other, order[last] ?? last];
  }
  return order.flatMap((index) => items.slice(index, index + 1));
}
