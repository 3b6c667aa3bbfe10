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

test("an import of LDIF reads options, base64, comments and added entries, and maps attributes", async () => {
  const { news, bad, unused } = await newsIn(
    [
      "# extended LDIF\n#\n# a comment\n  that continues\n",
      "dn: cn=Ann\ncn;lang-fr: Anne\ncn: Ann Best\nmail;x-work: second@x.example\nmail: ann@x.ex\n ample\nemployeeType: CEO\no: A\n",
      `dn:: ${Buffer.from("cn=Jörg").toString("base64")}\nchangetype: add\nmail: joerg@x.example\nsn:: ${Buffer.from("Groß").toString("base64")}\njpegPhoto:: /9j/\n`,
      "dn: cn=gone\nchangetype: modify\nreplace: mail\nmail: gone@x.example\n-\n",
      "dn: ou=people\nou: people\n",
      "search: 2\nresult: 0 Success\n",
    ].join("\n"),
    undefined,
    { position: "employeeType" },
  );
  expect(news).toEqual([
    expect.objectContaining({
      address: "ann@x.example",
      firstName: "Ann",
      lastName: "Best",
      position: "CEO",
      organization: "A",
    }),
    expect.objectContaining({ address: "joerg@x.example", lastName: "Groß" }),
  ]);
  expect(bad).toEqual([{ line: 27, reason: "address" }]);
  expect(unused).toEqual(["cn 2", "mail 2", "ou"]);
});

test("an import of vCards reads properties and parameters named as methods of objects", async () => {
  for (const line of ["CONSTRUCTOR:x", "TO-STRING:x", "HAS-OWN-PROPERTY:x", "NOTE;VALUE-OF=1:x"]) {
    const { news, bad } = await newsIn(card(V3, line, "EMAIL:a@x.example") + card(V3, "EMAIL:b@x.example"));
    expect([news.map(({ address }) => address), bad], line).toEqual([["a@x.example", "b@x.example"], []]);
  }
});

test.each([
  ["", "M=C3=BCller", "Müller"],
  ["", "M=FCller", "Müller"],
  ["CHARSET=UTF-8;", "M=FCller", "Müller"],
  ["CHARSET=UTF-8;", "Müller-Gro=C3=9F", "Müller-Groß"],
  ["CHARSET=windows-1251;", "=C8=E2=E0=ED=EE=E2", "Иванов"],
  ["CHARSET=unheard-of;", "M=FCller", "Müller"],
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

test("an import of vCards and LDIF rejects fields with bytes that are not of the encoding", async () => {
  const wrong = Buffer.from("\xfc\xe4", "latin1");
  const about = (start: string, end: string) => Buffer.concat([Buffer.from(start), wrong, Buffer.from(end)]);
  const vcard = about(`BEGIN:VCARD\n${V3}\nNOTE:Zoë Żółć\nEMAIL:a@x.example\nFN:`, " B\nEND:VCARD\n");
  expect(await newsIn(vcard)).toMatchObject({
    news: [],
    bad: [{ line: 1, reason: "encoding", field: "fullName" }],
  });
  const ldif = `dn: a\nmail: a@x.example\nsn:: ${wrong.toString("base64")}\n`;
  expect(await newsIn(ldif)).toMatchObject({
    news: [],
    bad: [{ line: 1, reason: "encoding", field: "lastName" }],
  });
});

test("an import of LDIF keeps entries apart without an empty line, and with a blank one", async () => {
  const { news, unused } = await newsIn(
    "dn: a\nmail: a@x.example\ndn:: Yg==\nmail: b@x.example\n \t\ndn: c\nmail: c@x\n .example\n",
  );
  expect(news.map(({ address }) => address)).toEqual(["a@x.example", "b@x.example", "c@x.example"]);
  expect(unused).toEqual([]);
});
