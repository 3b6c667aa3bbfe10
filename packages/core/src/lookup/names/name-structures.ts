import { PARTICLES } from "./name-words.ts";

/** A form of a name in an address, and its probability; those of one name add up to at most 1. */
export interface NameForm {
  /** Letters `a` to `z`, separated by hyphens, points and apostrophes. */
  text: string;
  weight: number;
}

// How often addresses use each form of a name of several words: estimates, see docs/lookup-names.md.
const HYPHENATED_FIRST = { joined: 0.4, hyphen: 0.32, firstWord: 0.2, point: 0.05 };
const SPACED_FIRST = { joined: 0.16, hyphen: 0.03, firstWord: 0.73, point: 0.05 };
const HYPHENATED_LAST = { joined: 0.2, hyphen: 0.55, firstWord: 0.12, lastWord: 0.08, point: 0.02 };
const SPACED_LAST = { joined: 0.24, hyphen: 0.06, firstWord: 0.55, lastWord: 0.08, point: 0.05 };
const PARTICLE_LAST = { joined: 0.68, hyphen: 0.06, lastWord: 0.16, point: 0.07 };
const APOSTROPHE = { without: 0.92, hyphen: 0.03, kept: 0.04 };

type Shares = Partial<Record<"joined" | "hyphen" | "firstWord" | "lastWord" | "point", number>>;

/** The ways to join the words of a first name, not yet in ASCII. */
export function structuresOfFirst(name: string): NameForm[] {
  const words = wordsOf(name);
  return structures(words, name.includes("-") ? HYPHENATED_FIRST : SPACED_FIRST);
}

/** The ways to join the words of a last name, with or without its particles, not yet in ASCII. */
export function structuresOfLast(name: string): NameForm[] {
  const words = wordsOf(name);
  const particles = particlesBefore(words);
  const surnames = words.length - particles;
  if (particles > 0 && surnames === 1) {
    return structures(words, PARTICLE_LAST);
  }
  // `de la Cruz Romero`: the particles belong to the first word.
  const grouped =
    particles > 0 ? [words.slice(0, particles + 1).join(""), ...words.slice(particles + 1)] : words;
  return structures(grouped, name.includes("-") ? HYPHENATED_LAST : SPACED_LAST);
}

function structures(words: string[], shares: Shares): NameForm[] {
  const [first, ...rest] = words;
  if (first === undefined) {
    return [];
  }
  if (rest.length === 0) {
    return withApostrophes({ text: first, weight: 1 });
  }
  const texts = {
    joined: words.join(""),
    hyphen: words.join("-"),
    point: words.join("."),
    firstWord: first,
    lastWord: rest[rest.length - 1] ?? first,
  };
  return Object.entries(texts).flatMap(([kind, text]) => {
    // The keys of `texts` are those of Shares.
    const weight = shares[kind as keyof Shares] ?? 0;
    return withApostrophes({ text, weight });
  });
}

function withApostrophes({ text, weight }: NameForm): NameForm[] {
  if (!text.includes("'")) {
    return [{ text, weight }];
  }
  return [
    { text: text.replaceAll("'", ""), weight: weight * APOSTROPHE.without },
    { text: text.replaceAll("'", "-"), weight: weight * APOSTROPHE.hyphen },
    { text, weight: weight * APOSTROPHE.kept },
  ];
}

/** The number of leading words that are particles: never all words. */
function particlesBefore(words: readonly string[]): number {
  let count = 0;
  while (count < words.length - 1 && PARTICLES.has(words[count] ?? "")) {
    count += 1;
  }
  return count;
}

function wordsOf(name: string): string[] {
  return name
    .normalize("NFC")
    .toLowerCase()
    .replace(/[’ʼ`´]/g, "'")
    .replace(/(?<=\p{Script=Cyrillic})'(?=\p{Script=Cyrillic})/gu, "")
    .split(/[^\p{L}\p{M}']+/u)
    .filter((word) => /\p{L}/u.test(word));
}
