import anyAscii from "any-ascii";
import { LETTER_PAIRS } from "./letter-pairs.ts";

const A = 97;
const Z = 122;
const ZERO = 48;
const NINE = 57;
const LETTERS = 26;
const TO_LOWER_CASE = 0x20;

/** Quarters of a bit for each pair of letters, indexed by `26 × first + second`. */
const SURPRISE = Uint8Array.from(LETTER_PAIRS.join(""), (digit) => Number.parseInt(digit, 36));

/** Fewer pairs of letters are not judged: initials and short names resemble anything. */
const MIN_PAIRS = 6;
/**
 * The maximum average of letter pairs, and the maximum excess of the total: short names vary more. Calibrated
 * on names that were not used to train the table; see docs/lookup.md.
 */
const MAX_QUARTER_BITS_PER_PAIR = 4.6 * 4;
const MAX_QUARTER_BITS_BEYOND = 7 * 4;

/** This many changes between letters and digits without a separator indicate a random token: `a8f3e9`. */
const MIN_SWITCHES = 5;
/** Adjacent keys, on the keyboards of several countries. */
const KEYS_IN_A_ROW = /qwert[yz]|azerty|asdfg|sdfgh|dfghj|fghjk|ghjkl|lkjhg|[yz]xcvb|xcvbn|poiuy/i;

/** This many repetitions of one letter indicate a key that was held down. */
const MIN_REPEATS = 4;

/**
 * Whether the local part of an address is random keystrokes, not a name, word or initials in any language:
 * `xkqjzvbn`. Too few letters are never gibberish, unless digits are mixed in. Other scripts are judged by
 * their transliteration.
 */
export function isGibberish(local: string): boolean {
  let surprise = 0;
  let pairs = 0;
  let switches = 0;
  let repeats = 1;
  // The previous letter, from 0 to 25; -1 if there is none.
  let previous = -1;
  let wasDigit = false;
  for (let index = 0; index < local.length; index += 1) {
    const written = local.charCodeAt(index);
    if (written > 0x7f) {
      return isGibberish(anyAscii(local));
    }
    const isDigit = written >= ZERO && written <= NINE;
    const code = written | TO_LOWER_CASE;
    const letter = code >= A && code <= Z ? code - A : -1;
    if (letter >= 0 && previous >= 0) {
      surprise += SURPRISE[LETTERS * previous + letter] ?? 0;
      pairs += 1;
    }
    repeats = letter >= 0 && letter === previous ? repeats + 1 : 1;
    if ((letter >= 0 && wasDigit) || (isDigit && previous >= 0)) {
      switches += 1;
    }
    if (repeats >= MIN_REPEATS || switches >= MIN_SWITCHES) {
      return true;
    }
    previous = letter;
    wasDigit = isDigit;
  }
  return (
    (pairs >= MIN_PAIRS && surprise > MAX_QUARTER_BITS_PER_PAIR * pairs + MAX_QUARTER_BITS_BEYOND) ||
    KEYS_IN_A_ROW.test(local)
  );
}
