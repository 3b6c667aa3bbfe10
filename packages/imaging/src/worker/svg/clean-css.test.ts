import { expect, test } from "vitest";
import { createRandom } from "../../../../../test/hostile/random.ts";
import {
  cleanDeclarations,
  cleanStylesheet,
  cleanValue,
  safeInConditions,
  safeInSelectors,
} from "./clean-css.ts";
import { CssScanner } from "./css-scanner.ts";

test.each<[title: string, css: string, cleaned: string]>([
  [
    "plain rules",
    " .a { fill: red ; }\n rect.b>g , #c{stroke:#000;}",
    ".a{fill:red}\nrect.b>g , #c{stroke:#000}",
  ],
  ["comments", "/* a */.a/* b */.b/**/c{/* d */fill/**/:/* e */red/* f */}", ".a/**/.b/**/c{fill:red}"],
  ["a comment that keeps names apart", ".a{fill:u/**/rl}", ".a{fill:u/**/rl}"],
  [
    "references within the document",
    ".a{fill:url(#g) red;mask:url( '#m' )}",
    ".a{fill:url(#g) red;mask:url( '#m' )}",
  ],
  [
    "functions",
    ".a{fill:RGB(1 2 3/50%);width:calc(2*(1px + 3em));transform:translate(1px)rotate(2deg)}",
    ".a{fill:RGB(1 2 3/50%);width:calc(2*(1px + 3em));transform:translate(1px)rotate(2deg)}",
  ],
  [
    "variables",
    ":root{--x: #abc}.a{fill:var(--x,red)!important}",
    ":root{--x:#abc}\n.a{fill:var(--x,red)!important}",
  ],
  [
    "selectors of every kind",
    "svg|g>[a~='b']:not(.c)+d::before~:nth-child(2n + 1){fill:red}",
    "svg|g>[a~='b']:not(.c)+d::before~:nth-child(2n + 1){fill:red}",
  ],
  ["an escaped name", ".\\31 23,.a\\:b{fill:red}", ".\\31 23,.a\\:b{fill:red}"],
  [
    "media and feature queries",
    "@media (min-width:1px) and print{.a{fill:red}}@supports not (fill:url(#a)){.b{fill:red}}",
    "@media (min-width:1px) and print{.a{fill:red}}\n@supports not (fill:url(#a)){.b{fill:red}}",
  ],
  [
    "animations",
    "@keyframes k{from{r:1}50.5%,to{r:2}}.a{animation:k 2s cubic-bezier(0,0,1,1)infinite}",
    "@keyframes k{from{r:1}\n50.5%,to{r:2}}\n.a{animation:k 2s cubic-bezier(0,0,1,1)infinite}",
  ],
  ["what old pages put around", "<!-- .a{fill:red} -->", ".a{fill:red}"],
  ["strings", ".a{font-family:'A B',\"C;}\"}", ".a{font-family:'A B',\"C;}\"}"],
  ["a block without an end", ".a{fill:red;stroke:blue", ".a{fill:red;stroke:blue}"],
  [
    "what is invalid after what is valid",
    ".a{fill:red;nonsense;=;*zoom:1;x y:1;stroke:}b{r:1}",
    ".a{fill:red}\nb{r:1}",
  ],
  ["nothing", " ", ""],
])("cleanStylesheet keeps %s", (_, css, cleaned) => {
  expect(cleanStylesheet(css)).toBe(cleaned);
  expect(cleanStylesheet(cleaned)).toBe(cleaned);
});

const outside = "http://elsewhere.example/x";

test.each<[title: string, css: string]>([
  ["@import", `@import url(${outside});`],
  ["@import of a string", `@import "${outside}" screen;`],
  ["@import without an end", `@import "${outside}"`],
  ["@import in a group", `@media all{@import "${outside}";}`],
  ["@import with an escape", `@\\69 mport "${outside}";`],
  ["@font-face", `@font-face{font-family:x;src:url(${outside})}`],
  ["@font-face of a data address", "@font-face{font-family:x;src:url(data:font/woff2;base64,AAAA)}"],
  ["@namespace and @charset", `@charset "utf-8";@namespace url(${outside});`],
  ["an at-rule that is not known", `@document url(${outside}){a{fill:red}}`],
  ["an address in a query", `@supports (fill:url(${outside})){a{fill:red}}`],
  ["an address", `a{fill:url(${outside})}`],
  ["an address without a scheme", "a{fill:url(//elsewhere.example/x)}"],
  ["an address in quotes", `a{fill:url("${outside}")}`],
  ["a data address", "a{background:url(data:image/png;base64,AAAA)}"],
  ["an empty address", "a{fill:url();mask:url('')}"],
  ["an address that is not finished", "a{fill:url(#a"],
  [
    "an address with an escaped scheme",
    "a{fill:url(\\68ttp://elsewhere.example/);mask:url('\\2f/elsewhere.example')}",
  ],
  ["an escaped function", `a{fill:\\75rl(${outside});mask:u\\rl(#a)}`],
  [
    "functions that load",
    `a{mask:image-set('${outside}' 1x);fill:src('${outside}');cursor:image('${outside}'),cross-fade(url(#a),url(#b))}`,
  ],
  ["functions that make addresses", "a{mask:attr(x type(<url>));fill:env(x);stroke:element(#a)}"],
  [
    "what old browsers run",
    "a{width:expression(alert(1));behavior:url(#a);-moz-binding:url(#a);filter:progid:X(src='x')}",
  ],
  ["a nested rule", `a{b{fill:url(${outside})}}`],
  ["a string that is not finished", "a{font-family:'x\n}b{font-family:'y"],
  ["a string with an escape or a parenthesis", "a{font-family:'\\'';mask:'url(x)'}"],
  ["markup", "a{font-family:'</style>'}b<c{fill:red}"],
  ["brackets that do not match", "a{fill:rgb(1,2]);stroke:red)}"],
  ["names that some would end earlier", "a{--x:#b×url(//elsewhere.example/x)}"],
  ["deep nesting", `a{fill:${"rgb(".repeat(10_000)}`],
  ["deep groups", `${"@media all{".repeat(10_000)}a{fill:red}`],
])("cleanStylesheet drops %s", (_, css) => {
  const cleaned = cleanStylesheet(css);
  expect(cleaned).not.toMatch(/elsewhere|@(?!media)|\\|<|\((?!#)|b\{/);
  expect(cleanStylesheet(`${cleaned} z{fill:red}`)).toBe(
    cleaned === "" ? "z{fill:red}" : `${cleaned}\nz{fill:red}`,
  );
});

test("cleanStylesheet keeps rules after a dropped one", () => {
  expect(
    cleanStylesheet(`@import "x";a{fill:url(x);stroke:red;b{r:1}r:2}@font-face{src:url(x)}c{fill:red}`),
  ).toBe("a{fill:none;stroke:red;r:2}\nc{fill:red}");
  // A browser reads the first address up to the string, and would find another address in the second string.
  const confusing = `\\75rl(["')"]){fill:red}a{font-family:"{}rect{mask:url(x)}b{"}c{fill:red}`;
  expect(cleanStylesheet(confusing)).toBe("c{fill:red}");
});

test.each<[string, string]>([
  [" fill : red ;; stroke:#000 ", "fill:red;stroke:#000"],
  ["fill:red}a{stroke:blue;r:1", ""],
  ["fill:red};r:1", "r:1"],
  ["mask:url(http://a/);stroke:url(#a)", "stroke:url(#a)"],
  ["fill:url(http://a/);stroke:url(#a)", "fill:none;stroke:url(#a)"],
  ["fill:url('b.svg#c') rgb(1,2,3);Stroke:url(b) #abc", "fill:rgb(1,2,3);Stroke:#abc"],
  ["fill:url(a) url(b);stroke:url(a) src(b)", "fill:none;stroke:none"],
  ["fill:url(#a b);stroke:url(#a(b)) red", ""],
  ["fill:src(a);stroke:\\75rl(a) red", ""],
  ["fill:red;@import 'x';r:1", "fill:red;r:1"],
  ["a{b:c};r:1", "r:1"],
  ["", ""],
])("cleanDeclarations cleans the style %j", (css, cleaned) => {
  expect(cleanDeclarations(css)).toBe(cleaned);
  expect(cleanDeclarations(cleaned)).toBe(cleaned);
});

test("cleanValue keeps colours, references to parts of the document, functions and lists of values", () => {
  for (const value of [
    ...["red", "url(#a)", "url('#a') none", "translate(1,2)scale(.5)", "matrix(1 0 0 1 -2.5e3 0)"],
    ...["none;url(#a);none", "icc-color(a, .1) #fff", "M0 0L1-1.5.5z", ""],
  ]) {
    expect(cleanValue(value), value).toBe(value);
  }
});

test.each([
  ["url(#\\61 b)", "url(#ab)"],
  ["url(\\23 ab)", "url(#ab)"],
  ["url(#a\\ b)", "url(#a%20b)"],
  ["url('#a b')", "url('#a b')"],
  ["url('#a\\27 b')", "url('#a%27b')"],
  ["url('#a(b)@{c;d}<')", "url('#a%28b%29%40%7bc%3bd%7d%3c')"],
  ["url(#a;b) red", "url(#a%3bb) red"],
  ["url(#50%)", "url(#50%)"],
  ["url(#a\\0 b)", "url(#a\ufffdb)"],
])("cleanValue writes the reference %s as %s, with escapes of URLs only", (css, cleaned) => {
  expect(cleanValue(css)).toBe(cleaned);
  expect(cleanValue(cleaned)).toBe(cleaned);
});

test("cleanValue refuses other addresses, escapes, unknown functions, and broken or nested syntax", () => {
  for (const value of [
    ...["url(a)", "url(#a) url(//b)", "none;url(http://a)", "\\75rl(#a)", "image-set('a' 1x)", "rotate(1"],
    ...["ur/**/l(a)", "url( )", "'url(a)'", "<script>(", "@import", "{a(b)}"],
  ]) {
    expect(cleanValue(value), value).toBeUndefined();
  }
});

const fragments = [
  ..."{}()[];:,.#@\\'\"/*<>!-+=~|^$& \n\t",
  ..."url( URL( url('#a') url(#a) url(//e/) src( image-set( rgb(1,2,3) var(--x) calc(".split(" "),
  ...["@import ", "@media all{", "@font-face{", "@\\69mport", "\\75rl(", "\\72 l(", "\\", "\\\n"],
  ..."/* */ <!-- --> a fill:red fill: --x: 'x' \"x\" 1px 50% #b !important é ×".split(" "),
  ...["\u00a0", "{}", "a{", "}b{"],
];
const safeFunctions = new Set([...safeInConditions, ...safeInSelectors, "url"]);

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
  const { below } = createRandom(20_260_101);
  for (let round = 0; round < 5000; round++) {
    let css = "";
    for (let length = 2 + below(15); length > 0; length--) css += fragments[below(fragments.length)];
    for (const clean of [cleanStylesheet, cleanDeclarations]) {
      const cleaned = clean(css);
      expectHarmless(css, cleaned);
      expect(clean(cleaned), css).toBe(cleaned);
    }
  }
});

/** Every token as `kind` and text; those with an escape are marked. */
function tokens(css: string): string[] {
  const scanner = new CssScanner(css);
  const found: string[] = [];
  while (scanner.next() !== "end") {
    found.push(`${scanner.kind}${scanner.escaped ? "*" : ""} ${scanner.token}`);
  }
  return found;
}

test.each<[title: string, css: string, expected: string[]]>([
  ["a declaration", "fill:red", ["ident fill", ": :", "ident red"]],
  [
    "a name of dashes",
    "--x -moz-y -1",
    ["ident --x", "whitespace  ", "ident -moz-y", "whitespace  ", "number -1"],
  ],
  ["numbers next to each other", "1-2.5.5+.1", ["number 1", "number -2.5", "number .5", "number +.1"]],
  [
    "units and exponents",
    "1e3 2e-1px 5% 1em",
    ["1e3", "2e-1px", "5%", "1em"]
      .join("| |")
      .split("|")
      .map((part) => (part === " " ? "whitespace  " : `number ${part}`)),
  ],
  ["colours", "#fff #0a1b2c #", ["hash #fff", "whitespace  ", "hash #0a1b2c", "whitespace  ", "delim #"]],
  ["an address without quotes", "url( #a )", ["url url( #a )"]],
  ["an address in quotes", "url('#a')", ["function url(", "string '#a'", ") )"]],
  ["an address in capitals", "URL(#a)", ["url URL(#a)"]],
  ["an address with a gap", "url(a b)c", ["bad-url url(a b)", "ident c"]],
  ["an address with an escape", "url(a\\)b)c", ["url* url(a\\)b)", "ident c"]],
  ["an address without an end", "url(a", ["bad-url url(a"]],
  ["a function whose name is escaped", "\\75rl(a)", ["function* \\75rl(", "ident a", ") )"]],
  ["an escape that ends with a space", "\\31 a b", ["ident* \\31 a", "whitespace  ", "ident b"]],
  ["a string with an escaped quote", "'a\\'b'c", ["string* 'a\\'b'", "ident c"]],
  ["a string over two lines", "'a\\\nb'", ["string* 'a\\\nb'"]],
  ["a string that a newline cuts", "'a\nb", ["bad-string 'a", "whitespace \n", "ident b"]],
  ["a string without an end", "'a\\", ["bad-string* 'a\\"]],
  ["a comment between letters", "u/* x */rl(", ["ident u", "comment /* x */", "function rl("]],
  ["a comment without an end", "a/* x", ["ident a", "comment /* x"]],
  ["an at-rule", "@import'x';", ["at-keyword @import", "string 'x'", "; ;"]],
  ["comment delimiters of HTML", "<!--a-->b", ["comment-delimiter <!--", "ident a--", "delim >", "ident b"]],
  ["letters that are not ASCII", "ä😀 b", ["ident ä😀", "whitespace  ", "ident b"]],
  [
    "newlines of every system",
    "a\r\nb\rc\fd",
    ["ident a", "whitespace \n", "ident b", "whitespace \n", "ident c", "whitespace \n", "ident d"],
  ],
  ["a null character", "a\0b", ["ident a\ufffdb"]],
  ["brackets", "{[(])}", ["{ {", "[ [", "( (", "] ]", ") )", "} }"]],
])("CssScanner finds the tokens of %s", (_title, css, expected) => {
  expect(tokens(css)).toEqual(expected);
});

test("the tokens of CssScanner cover any text completely, in order", () => {
  const alphabet = ["url(", "<!--", "/*", "*/", ..."()'\"\\@#-1eaé \n;{"];
  const { below } = createRandom(7);
  for (let round = 0; round < 2000; round++) {
    let css = "";
    for (let length = 0; length < 12; length++) css += alphabet[below(alphabet.length)];
    const scanner = new CssScanner(css);
    let together = "";
    while (scanner.next() !== "end") together += scanner.token;
    expect(together).toBe(css);
  }
});
