import { expect, test } from "vitest";
import { newsIn } from "../../test/news-in.ts";

const card = (...lines: string[]) => ["BEGIN:VCARD", ...lines, "END:VCARD", ""].join("\r\n");
const V3 = "VERSION:3.0";

test("an import of vCards reads escapes, folded lines, groups and several cards, and numbers them by their first line", async () => {
  const { news, bad, unused } = await newsIn(
    [
      card(
        V3,
        "FN:Best\\, Ann",
        "item1.EMAIL;type=pref:ann@x.exam",
        " ple",
        "ORG:Acme\\; Sons;Sales",
        "NOTE:x\\ny",
      ),
      card(V3, "FN:No address"),
      card("FN:No version", "EMAIL:v@x.example"),
      card(V3, "N:O'Neil\\;Smith;Zoë;;Dr.;", "EMAIL:zoe@x.example", "EMAIL:zoe@y.example", "TEL;TYPE=FAX:1"),
      "BEGIN:VCARD\r\nEMAIL:lost@x.example\r\n",
      card(V3, "FN:Acme", "ORG:Acme", "EMAIL;TYPE=HOME:h@x.example", "EMAIL;TYPE=WORK:w@x.example"),
      "BEGIN:VCARD\r\nEMAIL:open@x.example",
    ].join(""),
  );
  expect(news).toEqual([
    expect.objectContaining({
      address: "ann@x.example",
      firstName: "Ann",
      lastName: "Best",
      organization: "Acme; Sons",
    }),
    expect.objectContaining({ address: "zoe@x.example", firstName: "Zoë", lastName: "O'Neil;Smith" }),
    { address: "w@x.example", domain: "x.example", organization: "Acme", evidence: [] },
  ]);
  expect(news[1]?.phoneNumber).toBeUndefined();
  expect(unused).toEqual(["EMAIL 2", "NOTE"]);
  expect(bad.map(({ line, reason }) => `${line} ${reason}`).toSorted()).toEqual([
    "13 vcard",
    "24 truncated",
    "33 truncated",
    "9 address",
  ]);
});

test("an import leaves out a card of more than 1 MiB, and reads one with a large picture", async () => {
  const lines = (count: number, length: number) =>
    Array.from({ length: count }, (_, index) => `NOTE;X-${index}:${"x".repeat(length)}`);
  const large = card(V3, "EMAIL:a@x.example", ...lines(150, 10_000));
  const picture = card(V3, `PHOTO;ENCODING=b:${"A".repeat(3_000_000)}`, "EMAIL:b@x.example");
  const { news, bad } = await newsIn(large + picture, undefined, {}, undefined, 65_536);
  expect(bad).toEqual([{ line: 1, reason: "too_long" }]);
  expect(news.map(({ address }) => address)).toEqual(["b@x.example"]);
});

test("an import of vCards reads properties and parameters named as methods of objects", async () => {
  for (const line of ["CONSTRUCTOR:x", "TO-STRING:x", "HAS-OWN-PROPERTY:x", "NOTE;VALUE-OF=1:x"]) {
    const { news, bad } = await newsIn(card(V3, line, "EMAIL:a@x.example") + card(V3, "EMAIL:b@x.example"));
    expect([news.map(({ address }) => address), bad], line).toEqual([["a@x.example", "b@x.example"], []]);
  }
});

test.each([
  ["", "M=C3=BCller", "Müller"],
  ["CHARSET=windows-1252;", "M=FCller", "Müller"],
  ["", "M=FCller", null],
  ["CHARSET=UTF-8;", "M=FCller", null],
  ["CHARSET=UTF-8;", "Müller-Gro=C3=9F", "Müller-Groß"],
  ["CHARSET=windows-1251;", "=C8=E2=E0=ED=EE=E2", "Иванов"],
  ["CHARSET=unheard-of;", "M=FCller", null],
  ["", "=C8=E2=E0=ED=EE=E2", null],
  ["CHARSET=gb18030;", "=FF=FF", null],
])(
  "an import of vCards reads the quoted-printable name %s%s as %s, and rejects bytes of no encoding",
  async (charset, written, lastName) => {
    const { news, bad } = await newsIn(
      card("VERSION:2.1", `N;${charset}ENCODING=QUOTED-PRINTABLE:${written};Jo`, "EMAIL:a@x.example"),
    );
    expect(news.map((each) => each.lastName)).toEqual(lastName === null ? [] : [lastName]);
    expect(bad).toEqual(lastName === null ? [{ line: 1, reason: "encoding", field: "lastName" }] : []);
  },
);
