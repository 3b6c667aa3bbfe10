import { expect, test } from "vitest";
import { cleanDeclarations, cleanStylesheet, safeInConditions, safeInSelectors } from "./clean-css.ts";

const fragments = [
  ..."{}()[];:,.#@\\'\"/*<>!-+=~|^$& \n\t",
  ...[
    "url(",
    "URL(",
    "url('#a')",
    "url(#a)",
    "url(//e/)",
    "src(",
    "image-set(",
    "rgb(1,2,3)",
    "var(--x)",
    "calc(",
  ],
  ...[
    "@import ",
    "@media all{",
    "@font-face{",
    "@\\69mport",
    "\\75rl(",
    "\\72 l(",
    "\\",
    "\\\n",
    "/*",
    "*/",
    "<!--",
    "-->",
  ],
  ...[
    "a",
    "fill:red",
    "fill:",
    "--x:",
    "'x'",
    '"x"',
    "1px",
    "50%",
    "#b",
    "!important",
    "é",
    "×",
    "\u00a0",
    "{}",
    "a{",
    "}b{",
  ],
];
const safeFunctions = new Set([...safeInConditions, ...safeInSelectors, "url"]);

/** A pseudo-random sequence, the same in every run. */
function* numbers(seed: number): Generator<number> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Text that cleaned CSS must not hold, however it is parsed. */
function expectHarmless(css: string, cleaned: string): void {
  for (const [, name = "", target] of cleaned.matchAll(/([\w\u0080-\uffff\\-]*)\(\s*(['"]?.?)/g)) {
    const isHarmless =
      name === "" ||
      (safeFunctions.has(name.toLowerCase()) && (!/^url$/i.test(name) || target?.includes("#")));
    expect(isHarmless, `${css}\n→ ${cleaned}`).toBe(true);
  }
  for (const [at] of cleaned.matchAll(/@.{0,6}/g)) expect(at).toMatch(/^@media /);
  expect(cleaned).not.toContain("<");
}

test("random combinations of CSS are cleaned so that nothing loads", () => {
  const random = numbers(20_260_101);
  const next = (): number => random.next().value;
  for (let round = 0; round < 5000; round++) {
    let css = "";
    for (let length = 2 + next() * 14; length > 0; length--)
      css += fragments[Math.floor(next() * fragments.length)];
    for (const clean of [cleanStylesheet, cleanDeclarations]) {
      const cleaned = clean(css);
      expectHarmless(css, cleaned);
      expect(clean(cleaned), css).toBe(cleaned);
    }
  }
});
