import { expect, test } from "vitest";
import { cleanSvg } from "../../packages/imaging/src/worker/svg/clean-svg.ts";
import { isSoak } from "../support/soak.ts";
import { SQUARE, svg } from "./attack.ts";
import { sampleSvgs } from "./samples.ts";

const ROUNDS = isSoak ? 100_000 : 3000;

/** The snippets that mutations insert. */
const fragments = [
  ...["<", ">", "</g>", "<g>", "/>", '"', "'", "=", "&", ";", "&#0;", "&amp;", "<!--", "-->", "<?x", "?>"],
  ...["<![CDATA[", "]]>", "\\", "{", "}", "&a;", "<style>", "</style>", "\0", "\ufeff", "\u00a0", "😀"],
  ...["<script>x</script>", ' onload="x"', ' href="javascript:x"', ' xlink:href="//elsewhere/"'],
  ...["url(//elsewhere/)", '<!DOCTYPE svg [<!ENTITY a "b">]>', 'xmlns=""', ' xmlns="urn:x"'],
];

/** Text, names, and references to names: the places for arbitrary content. */
const harmless =
  /(?<=>)[^<]+|\s(?:id|class|lang|begin|aria-\w+|required\w+|systemLanguage|attributeName)="[^"]*"|\s(?:xlink:)?href="#[^"]*"/g;

/** A pseudo-random sequence, the same in every run. */
function* numbers(seed: number): Generator<number> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

test("a mutated drawing is either refused or cleaned completely", async () => {
  const samples = [...Object.values(await sampleSvgs()), svg(SQUARE)];
  const random = numbers(4_711);
  const below = (limit: number): number => Math.floor(random.next().value * limit);
  let taken = 0;
  for (let round = 0; round < ROUNDS; round++) {
    let text = samples[below(samples.length)] ?? "";
    for (let count = 1 + below(3); count > 0; count--) {
      const at = below(text.length);
      const length = below(3) === 0 ? below(40) : 0;
      text = text.slice(0, at) + (fragments[below(fragments.length)] ?? "") + text.slice(at + length);
    }
    let cleaned: Buffer;
    try {
      cleaned = cleanSvg(Buffer.from(text));
    } catch (error) {
      expect(error, text).toMatchObject({ code: "unsupported_media" });
      continue;
    }
    taken++;
    expect(cleanSvg(cleaned).equals(cleaned), text).toBe(true);
    const markup = cleaned.toString().replace(harmless, "");
    expect(markup, text).not.toMatch(/<script|\sonload=|href="(?!data:image)|url\(\/|<!|<\?/);
  }
  // Most mutations break the XML; enough of them must not.
  expect(taken).toBeGreaterThan(ROUNDS / 20);
});
