import { expect, test } from "vitest";
import { createRandom } from "../../../../../test/hostile/random.ts";
import { CssScanner } from "./css-scanner.ts";

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
  ["an address with an escape", "url(a\\)b)c", ["bad-url url(a\\)b)", "ident c"]],
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
