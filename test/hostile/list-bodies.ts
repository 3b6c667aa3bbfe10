const ROWS = 100_000;
/** Below the limit of 16 MiB. */
const SIZE = 15_900_000;

/** A body of a list, and the statuses that a paying account may get for it. */
export interface ListBody {
  name: string;
  type: "text/csv" | "application/json";
  /** Made on demand: all of them take 500 MB. */
  body: () => Buffer;
  statuses: number[];
}

const filled = (prefix: string, unit: string, suffix = "") =>
  prefix + unit.repeat(Math.floor((SIZE - prefix.length - suffix.length) / Buffer.byteLength(unit))) + suffix;

const addresses = (write: (index: number) => string) =>
  JSON.stringify({ emails: Array.from({ length: ROWS }, (_, index) => write(index)) });

const json = (name: string, write: () => string, ...statuses: number[]): ListBody => ({
  ...{ name, type: "application/json", body: () => Buffer.from(write()), statuses },
});

const csv = (name: string, write: () => string, ...statuses: number[]): ListBody => ({
  ...{ name, type: "text/csv", body: () => Buffer.from(write()), statuses },
});

/** Lists whose parsing takes most time or memory for their size. */
export function costlyLists(): ListBody[] {
  const refused = [
    json("many objects", () => filled('{"emails":[', "{},", "{}]}"), 400),
    json("many nulls", () => filled('{"emails":[', "null,", "null]}"), 400),
    json("many numbers", () => filled('{"emails":[', "1,", "1]}"), 400),
    json("many empty lists", () => filled('{"emails":[', "[],", "[]]}"), 400),
    json("many empty texts", () => filled('{"emails":[', '"",', '""]}'), 400),
    json("deep lists", () => "[".repeat(SIZE), 400),
    json("deep lists in emails", () => `{"emails":${"[".repeat(SIZE)}`, 400),
    json("deep objects", () => filled("", '{"a":'), 400),
    json("many members", () => filled('{"emails":["a@a.example"]', ',"a":1', "}"), 400),
    json("many emails", () => filled("{", '"emails":["a@a.example"],', '"a":1}'), 400),
    json("a wide member", () => filled('{"a":[', "1,", '1],"emails":["a@a.example"]}'), 400),
    json("a long text", () => filled('{"emails":["', "a", '"]}'), 400),
    json("a long text of escapes", () => filled('{"emails":["', "\\u00fc", '"]}'), 400),
    json("an open text", () => filled('{"emails":["', "\\"), 400),
    json("blanks", () => filled('{"emails":', " ", '["a@a.example"]}'), 202),
    json("blanks without an end", () => filled('{"emails":', " "), 400),
    csv("one line of commas", () => filled(`email${",a".repeat(100)}\n`, ","), 400),
    csv("a wide header", () => filled("email", ",a"), 400),
    csv("a wide header of tabs", () => filled("email", "\ta"), 400),
    csv("many empty lines", () => filled("email\n", "\n", "a@a.example\n"), 400),
    csv("many line breaks before the header", () => filled("", "\r\n", "email\n"), 400),
    csv("many lines of semicolons", () => filled(`email${";a".repeat(199)}\n`, `${";".repeat(199)}\n`), 400),
    csv("many lines of quoted blanks", () => filled("email;a\n", '"";" "\n'), 400),
    csv("an open quotation mark", () => filled('email\n"', "a"), 400),
    csv("pairs of quotation marks", () => filled('email\n"', '""'), 400),
    csv("quotation marks and text", () => filled("email\n", '"a"b'), 400),
    csv("a long cell", () => filled("email,c\na@a.example,", "z"), 400),
    csv("long cells", () => filled("email,c\n", `a@a.example,${"z".repeat(65_000)}\n`), 400),
    csv("too many rows", () => filled("email\n", "a@a.example\n"), 400),
  ];
  const valid = [
    json(
      "international domains",
      () => addresses((index) => `u${index}@${"ü".repeat(40)}${index}.example`),
      202,
    ),
    json(
      "combining marks",
      () => addresses((index) => `${"e\u0323\u0302".repeat(8)}${index}@a.example`),
      202,
    ),
    json("rows of capitals", () => addresses((index) => `${"A".repeat(40)}${index}@EXAMPLE.COM`), 202),
    csv("wide rows", () => filled(`email${",a".repeat(199)}\n`, `a@a.example${",".repeat(199)}\n`), 202),
    csv(
      "wide rows of text",
      () => filled(`email${",a".repeat(199)}\n`, `a@a.example${",bb".repeat(199)}\n`),
      202,
    ),
    csv(
      "long rows in two alphabets",
      () => filled("email\tc\n", `a@a.example\tü${"字".repeat(1300)}${"z".repeat(150)}\n`),
      202,
    ),
    csv("short rows", () => `email\n${"a@a.example\n".repeat(ROWS)}`, 202),
  ];
  // An account that keeps much already gets 429, and a full queue 503.
  return [...refused, ...valid.map((each) => ({ ...each, statuses: [...each.statuses, 429, 503] }))];
}
