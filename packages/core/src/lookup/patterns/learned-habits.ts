import type { PatternCount } from "../../contracts/contact-source.ts";
import { HABITS, type Habit, type HabitShares, KIN, type Shares } from "../names/name-habits.ts";
import { type ChoicePrior, posteriorShares } from "./posterior-shares.ts";

/** Most organisations write all names of a kind in one way. */
const CONSISTENCY: Pick<ChoicePrior, "several" | "exceptions"> = {
  several: [0.975, 0.025],
  exceptions: [
    { share: 0.01, probability: 0.7 },
    { share: 0.05, probability: 0.23 },
    { share: 0.25, probability: 0.07 },
  ],
};
/** The weight of evidence on a related habit. */
const KINSHIP = 0.65;

/** The habits of a domain, by the known addresses of its patterns. */
export function learnedHabits(patterns: readonly PatternCount[]): HabitShares {
  const counts = new Map<string, Map<string, number>>();
  for (const { habits = {} } of patterns) {
    for (const [key, count] of Object.entries(habits)) {
      const [habit = "", choice = ""] = key.split(".");
      const known = counts.get(habit) ?? new Map<string, number>();
      counts.set(habit, known);
      known.set(choice, (known.get(choice) ?? 0) + count);
    }
  }
  const posterior = (habit: Habit, usual: Shares): Shares => {
    const seen = counts.get(habit);
    if (seen === undefined) return usual;
    const shares = new Map(Object.entries(usual));
    return Object.fromEntries(posteriorShares({ shares, ...CONSISTENCY }, seen));
  };
  return (habit, usual = HABITS[habit]) => {
    const kin = KIN[habit];
    if (kin === undefined || !counts.has(kin)) return posterior(habit, usual);
    const suggested = posterior(kin, HABITS[kin]);
    const mixed = Object.entries(usual).map(
      ([choice, share]) => [choice, (1 - KINSHIP) * share + KINSHIP * (suggested[choice] ?? 0)] as const,
    );
    return posterior(habit, Object.fromEntries(mixed));
  };
}
