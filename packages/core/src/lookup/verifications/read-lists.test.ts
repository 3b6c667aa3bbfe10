import { expect, test } from "vitest";
import { ListRows, TextInput } from "./list-rows.ts";
import { parseAddresses } from "./read-addresses.ts";
import { parseTable } from "./read-table.ts";

/** The rows of a text that arrives in pieces of this length, or the fault that is found. */
function readIn(length: number, parse: typeof parseTable, text: string): unknown {
  const [input, list] = [new TextInput(), new ListRows()];
  const parser = parse(input, list);
  const advance = () => {
    for (let step = parser.next(); !step.done && step.value; step = parser.next());
  };
  try {
    for (let at = 0; at < text.length; at += length) {
      input.add(text.slice(at, at + length));
      advance();
    }
    input.isComplete = true;
    advance();
  } catch (error) {
    return String(error);
  }
  return list.rows.map(({ email, columns }) => (columns === null ? email : [email, ...columns]));
}

const BROKEN = "LookupProblem: The body is not valid JSON";

test.each<[typeof parseTable, string, unknown]>([
  [
    parseTable,
    '\uFEFFemail,"a ""b""",c\r\n\r\nx@a.example,"1\r\n2",\r\n"y@a.example",a"b,"c"d\r\n,,\r\nz@a.example,ü,😀',
    [
      ["x@a.example", "", "1\r\n2", ""],
      ["y@a.example", "", 'a"b', '"c"d'],
      ["z@a.example", "", "ü", "😀"],
    ],
  ],
  [
    parseTable,
    'name\temail\n\t\n a, b \t x@a.example \n""\t""""\n',
    [
      ["x@a.example", " a, b ", ""],
      ['"', "", ""],
    ],
  ],
  [
    parseTable,
    "\n\ne-mail;b\rx@a.example;\r;y\r",
    [
      ["x@a.example", "", ""],
      ["", "", "y"],
    ],
  ],
  [parseTable, 'email,b\nx@a.example,"a" ,b\n', expect.stringMatching(/line 2 \(row 1\).*number of columns/)],
  [parseTable, 'email\n"a""b\n', expect.stringMatching(/line 2 \(row 1\).*not closed/)],
  [parseTable, "", []],
  [parseTable, " \n", []],
  [
    parseAddresses,
    '{ "a":[1,{"b":null}], "emails" :["x@a.example",\n"\\u0079\\"@a.example" , ""] ,"z":"]"} \n',
    ["x@a.example", 'y"@a.example', ""],
  ],
  [parseAddresses, '{"\\u0065mails":["\\ud800x\\u0000@a.example"],"emails ":-1.5e3}', ["\ufffdx@a.example"]],
  [parseAddresses, '{"emails":[]}', []],
  [parseAddresses, '{"emails":["a"],"emails":["b"]}', expect.stringMatching(/emails must be given once/)],
  [parseAddresses, '{"a":{"emails":["a"]}}', expect.stringMatching(/emails must be an array/)],
  [parseAddresses, '{"emails":"a"}', expect.stringMatching(/emails must be an array/)],
  [parseAddresses, '[{"emails":["a"]}]', expect.stringMatching(/must be an object/)],
  [parseAddresses, '{"emails":["a",true]}', expect.stringMatching(/emails\[1\] must be a string/)],
  ...[
    ...[
      '{"emails":["a"]}}',
      '{"emails":["a"',
      '{"emails":["a" "b"]}',
      '{"emails":["\\x"]}',
      '{"emails":["\n"]}',
    ],
    ...['{"emails":[tru', "{emails:[]}", '{"emails":["a"],}', '{"emails":["a"],"b":01}', '{"emails":["a"]'],
    ...[
      '{"a":1 2,"emails":["a"]}',
      '{"emails" ["a"]}',
      '{"emails":["a"],"b"}',
      '{"emails":["a",,"b"]}'.slice(0, 15),
    ],
  ].map((text): [typeof parseTable, string, unknown] => [parseAddresses, text, BROKEN]),
])(
  "%o reads %j to the same rows or the same fault, however the text is cut into pieces",
  (parse, text, expected) => {
    for (let length = 1; length <= text.length + 1; length++) {
      expect(readIn(length, parse, text), `pieces of ${length}`).toEqual(expected);
    }
  },
);
