import anyAscii from "any-ascii";
import { LETTER_PAIRS } from "./letter-pairs.ts";

const A = 97;
const Z = 122;
const ZERO = 48;
const NINE = 57;
const LETTERS = 26;
const TO_LOWER_CASE = 0x20;

/** Quarters of a bit for each pair of letters, by `26 × first + second`. */
const SURPRISE = Uint8Array.from(LETTER_PAIRS.join(""), (digit) => Number.parseInt(digit, 36));

/** Fewer pairs of letters say nothing: initials and short names look like anything. */
const MIN_PAIRS = 6;
/**
 * What pairs of letters may have on average, and what all together may have beyond that: short names vary more. Calibrated
 * on names that the table was not made of; see docs/lookup-names.md.
 */
const MAX_QUARTER_BITS_PER_PAIR = 4.6 * 4;
const MAX_QUARTER_BITS_BEYOND = 7 * 4;

/** So many times from letter to digit or back without a sign between is a random token: `a8f3e9`. */
const MIN_SWITCHES = 5;
/** Keys that lie side by side, of keyboards of several countries. */
const KEYS_IN_A_ROW = /qwert[yz]|azerty|asdfg|sdfgh|dfghj|fghjk|ghjkl|lkjhg|[yz]xcvb|xcvbn|poiuy/i;

/** So many of one letter are a key that was held down. */
const MIN_REPEATS = 4;

/**
 * Whether the part before an `@` is no name, word or initials in any language but keys hit at random: `xkqjzvbn`. Of few
 * letters it is not, unless digits are mixed in. Letters of other scripts are judged in their transliteration.
 */
export function isGibberish(local: string): boolean {
  let surprise = 0;
  let pairs = 0;
  let switches = 0;
  let repeats = 1;
  // The letter before, from 0 to 25; -1 where there is none.
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
