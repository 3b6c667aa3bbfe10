import type { Contact, PatternCount } from "../../contracts/contact-source.ts";
import { type NameSpelling, nameSpellings } from "../names/name-forms.ts";
import { type Cut, cutReadings, lengthOf, UNCUT } from "./cut-locals.ts";
import { DEFAULT_PATTERNS } from "./default-patterns.ts";
import { explainLocal, plainLocal, type Readings } from "./explain-local.ts";

/** A person's name and address, from which a pattern can be learned. */
export interface NamedLocal {
  /** The part before the `@`. */
  local: string;
  firstName: string;
  lastName: string;
  /** How much the address counts, compared with the others. @default 1 */
  weight?: number;
}

/** Literal text and cuts that fewer addresses share are coincidence, or specific to a person. */
const MIN_TO_LEARN = 2;
/** More addresses of a domain teach nothing new. */
export const MAX_LEARNED_FROM = 2000;
/** Number of unexplained addresses of a domain that are searched for a cut. */
const MAX_SEARCHED_FOR_CUT = 200;

const SIMPLICITY: ReadonlyMap<string, number> = new Map(
  DEFAULT_PATTERNS.map(({ pattern }, index) => [pattern, index]),
);

interface Read {
  local: string;
  weight: number;
  name: readonly NameSpelling[];
  readings: Readings;
}

interface Learned {
  /** The sum of the weights of `reads`. */
  count: number;
  habits: Map<string, number>;
  reads: Read[];
}

/**
 * Learns how addresses are formed from names, most frequent pattern first. Each address counts once, for one
 * pattern, or not at all if no pattern forms it. If several patterns form it, it counts for the one that
 * forms most of the unambiguous addresses. Of equal ones the simplest wins: the one that comes first in
 * {@link DEFAULT_PATTERNS}. Each pattern has the habits that its addresses show. The first 2,000 addresses count, by their
 * weights, whose mean is 1.
 */
export function learnPatterns(addresses: Iterable<NamedLocal>): PatternCount[] {
  const reads: Read[] = [];
  for (const address of addresses) {
    if (reads.length === MAX_LEARNED_FROM) break;
    reads.push(...readOf(address));
  }
  const scale = reads.length / reads.reduce((sum, { weight }) => sum + weight, 0);
  const sure = new Map<string, number>();
  for (const read of reads) {
    read.weight *= scale;
    const [only, ...others] = read.readings.keys();
    if (only !== undefined && others.length === 0) sure.set(only, (sure.get(only) ?? 0) + read.weight);
  }
  const learned = new Map<string, Learned>();
  for (const read of reads) {
    const best = [...read.readings.keys()].reduce(
      (left, right) => (left === "" || isBefore(right, left, sure) ? right : left),
      "",
    );
    if (best !== "") addTo(learned, best, read.readings.get(best) ?? [], read);
  }
  for (const [pattern, known] of learned) {
    if (known.reads.length < MIN_TO_LEARN && hasText(pattern)) learned.delete(pattern);
  }
  learnCut(
    learned,
    reads.filter(({ readings }) => readings.size === 0),
  );
  const counts = new Map([...learned].map(([pattern, { count }]) => [pattern, count]));
  const explained = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [...learned]
    .sort(([left], [right]) => (isBefore(left, right, counts) ? -1 : 1))
    .map(([pattern, { count, habits }]) => ({
      pattern,
      count: wholeOf(count),
      ...(habits.size > 0 && {
        habits: Object.fromEntries([...habits].sort().map(([choice, shown]) => [choice, wholeOf(shown)])),
      }),
      ...(Math.round(reads.length - explained) > 0 && { of: reads.length }),
    }));
}

function wholeOf(count: number): number {
  return Math.max(1, Math.round(count));
}

/**
 * What a contact teaches; `null` without both names. An address on a page, or a verified one, counts double. One that is known
 * from neither teaches nothing if its mailbox does not exist.
 */
export function namedLocal(contact: Contact): NamedLocal | null {
  const { address, firstName, lastName, evidence, verification } = contact;
  const isProved = evidence.length > 0 || verification?.status === "valid";
  if (firstName === null || lastName === null || (!isProved && verification?.status === "invalid"))
    return null;
  const local = address.slice(0, address.lastIndexOf("@"));
  return { local, firstName, lastName, weight: isProved ? 2 : 1 };
}

function readOf({ local, firstName, lastName, weight = 1 }: NamedLocal): Read[] {
  const name = nameSpellings(firstName, lastName);
  const plain = plainLocal(local);
  const hasName = name.some(({ forms }) => forms.first.length + forms.last.length > 0);
  return plain === "" || !hasName
    ? []
    : [{ local: plain, weight, name, readings: explainLocal(plain, name) }];
}

function addTo(learned: Map<string, Learned>, pattern: string, choices: readonly string[], read: Read): void {
  const known = learned.get(pattern) ?? { count: 0, habits: new Map<string, number>(), reads: [] };
  learned.set(pattern, known);
  known.count += read.weight;
  known.reads.push(read);
  for (const choice of new Set(choices)) {
    known.habits.set(choice, (known.habits.get(choice) ?? 0) + read.weight);
  }
}

/** Learns the cut that explains most of the addresses that no pattern forms. */
function learnCut(learned: Map<string, Learned>, unexplained: readonly Read[]): void {
  const found = new Map<string, { pattern: string; cut: Cut; reads: Read[] }>();
  for (const read of unexplained.slice(0, MAX_SEARCHED_FOR_CUT)) {
    for (const [pattern, cut] of cutReadings(read.local, read.name)) {
      const key = `${pattern} ${cut}`;
      const known = found.get(key) ?? { pattern, cut, reads: [] };
      found.set(key, known);
      known.reads.push(read);
    }
  }
  const support = ({ pattern, reads }: { pattern: string; reads: Read[] }) =>
    reads.length + (learned.get(pattern)?.reads.length ?? 0);
  const [best] = [...found.values()].sort(
    (left, right) =>
      right.reads.length - left.reads.length ||
      support(right) - support(left) ||
      simplicity(left.pattern) - simplicity(right.pattern) ||
      (left.cut < right.cut ? -1 : 1),
  );
  if (best === undefined || support(best) < MIN_TO_LEARN) return;
  const length = lengthOf(best.cut);
  const uncut = (learned.get(best.pattern)?.reads ?? []).filter(({ local, name }) =>
    best.cut.startsWith("cut.")
      ? local.length > length
      : name.some(({ forms }) => forms.last.some(({ text }) => text.length > length && local.includes(text))),
  );
  for (const read of best.reads) addTo(learned, best.pattern, [best.cut], read);
  const uncutWeight = uncut.reduce((sum, { weight }) => sum + weight, 0);
  if (uncutWeight > 0) learned.get(best.pattern)?.habits.set(UNCUT, uncutWeight);
}

function isBefore(left: string, right: string, counts: ReadonlyMap<string, number>): boolean {
  const byCount = (counts.get(left) ?? 0) - (counts.get(right) ?? 0);
  if (byCount !== 0) {
    return byCount > 0;
  }
  const bySimplicity = simplicity(left) - simplicity(right);
  return bySimplicity !== 0 ? bySimplicity < 0 : left < right;
}

function simplicity(pattern: string): number {
  return SIMPLICITY.get(pattern) ?? DEFAULT_PATTERNS.length + pattern.length;
}

/** Whether there are letters besides the placeholders. */
function hasText(pattern: string): boolean {
  return /[a-z]/.test(pattern.replace(/\{[a-z]+\}/g, ""));
}
