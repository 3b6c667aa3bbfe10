/** A rule of words: the first rule with one that a title has, decides. */
export interface WordRule<Value> {
  /** What the title then is; `null`: nothing, whatever later rules say. */
  is: Value | null;
  /**
   * Words between blanks, in ASCII and lower case; `_` is a blank, at a `*` the word goes on: `account_manager`,
   * `*entwickl*`. After `=` stands all of a title.
   */
  words: string;
}

/** Finds what the first rule that fits a text says; `undefined` where none does. */
export type WordRules<Value> = (text: string) => Value | null | undefined;

/** The rules, in their order, for texts of words in ASCII and lower case with one blank between. */
export function wordRules<Value>(rules: readonly WordRule<Value>[]): WordRules<Value> {
  const compiled = rules.map(({ is, words }) => ({ is, expression: expressionOf(words) }));
  return (text) => compiled.find(({ expression }) => expression.test(text))?.is;
}

function expressionOf(words: string): RegExp {
  const choices = words.split(" ").map((word) => {
    if (word.startsWith("=")) {
      return `^${word.slice(1).replaceAll("_", " ")}$`;
    }
    const [, before = "", plain = "", behind = ""] = /^(\*?)(.*?)(\*?)$/.exec(word) ?? [];
    return `${before === "" ? "\\b" : ""}${plain.replaceAll("_", " ")}${behind === "" ? "\\b" : ""}`;
  });
  return new RegExp(choices.join("|"));
}
