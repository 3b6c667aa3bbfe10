/**
 * The habits in which organisations differ when they write a name in an address. Each has its choices, with
 * the share of organisations that make each; estimates, see docs/lookup.md. The difference to 1 is the
 * share of other choices.
 */
export const HABITS = {
  /** `Anne-Marie` */
  hyphenatedGiven: { joined: 0.36, hyphen: 0.32, first: 0.24, point: 0.03, initial: 0.02, last: 0.01 },
  /** `Anna Maria` */
  spacedGiven: { joined: 0.24, hyphen: 0.07, first: 0.59, point: 0.04, initial: 0.03, last: 0.01 },
  /** `Müller-Schmidt` */
  hyphenatedSurname: { joined: 0.25, hyphen: 0.26, first: 0.23, last: 0.21, point: 0.02 },
  /** `García Márquez` */
  spacedSurname: { joined: 0.23, hyphen: 0.19, first: 0.27, last: 0.25, point: 0.03 },
  /** `van der Berg`; `initials` is `vdberg`. */
  particle: { joined: 0.42, dropped: 0.31, hyphen: 0.13, point: 0.08, initials: 0.02 },
  /** The initial of a name of several words: `a` or `am`. */
  initials: { one: 0.88, all: 0.1 },
  /** `O'Brien` */
  apostrophe: { without: 0.9, hyphen: 0.03, kept: 0.05 },
  /** `ä`, `ö`, `ü`, `ø` as two letters or as one. */
  umlaut: { two: 0.6, one: 0.39 },
  /** `å` as `aa` or `a`. */
  ring: { two: 0.25, one: 0.74 },
  /** `æ` and `ß` as `ae` and `ss`, or `a` and `s`. */
  ligature: { two: 0.92, one: 0.06 },
  /** `đ` as `dj` or `d`. */
  stroke: { two: 0.15, one: 0.84 },
} as const satisfies Record<string, Shares>;

export type Habit = keyof typeof HABITS;
export type Shares = Readonly<Record<string, number>>;

/** A choice of a habit: `particle.dropped`. */
export type Choice = `${Habit}.${string}`;

/** The probability of each choice of a habit at one organisation. */
export type HabitShares = (habit: Habit, usual?: Shares) => Shares;

/** The habits of an organisation without known addresses. */
export const usualHabits: HabitShares = (habit, usual = HABITS[habit]) => usual;

/** Related habits, each of which suggests the other: both concern hyphens or blanks, or letters of one alphabet. */
export const KIN: Readonly<Partial<Record<Habit, Habit>>> = {
  hyphenatedGiven: "spacedGiven",
  spacedGiven: "hyphenatedGiven",
  hyphenatedSurname: "spacedSurname",
  spacedSurname: "hyphenatedSurname",
  umlaut: "ring",
  ring: "umlaut",
};
