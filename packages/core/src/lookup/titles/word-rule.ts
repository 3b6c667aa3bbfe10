/** A word rule: the first rule with a matching word decides. */
export interface WordRule<Value> {
  /** The value for a matching title; `null`: none, and later rules are not tried. */
  is: Value | null;
  /**
   * Words separated by blanks, in ASCII and lower case. `_` stands for a blank, `*` for any further letters:
   * `account_manager`, `*entwickl*`. A word after `=` must match the whole title.
   */
  words: string;
}

/** Returns the value of the first rule that matches a text; `undefined` if none does. */
export type WordRules<Value> = (text: string) => Value | null | undefined;

/** Compiles the rules at the first text. They apply in order to texts of ASCII lower-case words separated by one blank. */
export function wordRules<Value>(rules: readonly WordRule<Value>[]): WordRules<Value> {
  let compiled: { is: Value | null; expression: RegExp }[] | undefined;
  return (text) => {
    compiled ??= rules.map(({ is, words }) => ({ is, expression: expressionOf(words) }));
    return compiled.find(({ expression }) => expression.test(text))?.is;
  };
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
