import { expect, test } from "vitest";
import { newsIn } from "../../test/news-in.ts";
import { bytesOf, type UsualFile } from "../../test/usual-file.ts";
import { USUAL_FILES } from "../../test/usual-files.ts";
import { mergeContact } from "../contacts/merge-contact.ts";

const HOME = "ann@private.example";
const ENCODINGS = ["utf-8", "utf-16le", "utf-16be", "windows-1252"] as const;

/** The encoding that a file of a program needs as an option. */
const givenFor = ({ encoding }: UsualFile) => (encoding === "windows-1252" ? encoding : undefined);

test.each(Object.entries(USUAL_FILES))(
  "an import takes both people and all their values from %s",
  async (_, file) => {
    const { news, bad, unused } = await newsIn(bytesOf(file), undefined, {}, givenFor(file));
    expect(bad).toEqual([]);
    const [phone, other] = file.phones ?? [];
    const profile = {
      ...(file.profile && { networkAUrl: expect.stringContaining(file.profile.replace(/^https?:\/\//, "")) }),
      ...(file.handle && { networkB: file.handle }),
      ...(file.status && { verification: expect.objectContaining({ status: file.status }) }),
      ...(file.confidence && { confidence: file.confidence }),
    };
    expect(news).toEqual([
      expect.objectContaining({
        address: "ann.best@acme.example",
        firstName: "Ann",
        lastName: "Best",
        organization: "Acme Ltd",
        position: "Chief Analyst",
        ...(phone && { phoneNumber: phone }),
        ...profile,
      }),
      expect.objectContaining({
        address: "joerg.gross@bau.example",
        firstName: "Jörg",
        lastName: "Groß",
        organization: "Bau GmbH",
        position: "Leiter Einkauf",
        ...(other && { phoneNumber: other }),
      }),
    ]);
    if (file.phones === undefined)
      expect(news.map(({ phoneNumber }) => phoneNumber)).toEqual([undefined, undefined]);
    const sources = news.flatMap(({ evidence }) => evidence.map(({ uri }) => uri));
    expect(new Set(sources)).toEqual(
      new Set(file.text.includes("Source 1 URI") ? ["https://acme.example/team"] : []),
    );
    expect(JSON.stringify(news)).not.toContain(HOME);
    if (/,ann@private|;ann@private|:ann@private/.test(file.text)) expect(unused).not.toEqual([]);
  },
);

test("an import reads each file in UTF-8 and UTF-16 with a mark, and in other encodings by their name", async () => {
  for (const [name, file] of Object.entries(USUAL_FILES)) {
    const { news } = await newsIn(file.text);
    const isWestern = /^[\0-\xff]*$/.test(file.text);
    for (const encoding of ENCODINGS.slice(0, isWestern ? 4 : 3)) {
      for (const hasMark of [true, false]) {
        const given = hasMark && encoding !== "windows-1252" ? undefined : encoding;
        const read = await newsIn(bytesOf({ text: file.text, encoding, hasMark }), undefined, {}, given);
        expect(read, `${name} in ${encoding}`).toMatchObject({ news, bad: [], dropped: expect.any(Array) });
      }
    }
  }
});

test.each([
  ["mailto:ada@acme.example", "Ada", "King"],
  ["Ada Lovelace <ada@acme.example>", "Ada", "Lovelace"],
  ["<ada@acme.example>", "Ada", "King"],
])("an import takes the address from %s, and its name if there is no other", async (text, first, last) => {
  const named = await newsIn(`Email,First Name,Last Name\n${text},Ada,King\n`);
  expect(named).toMatchObject({
    bad: [],
    dropped: [],
    news: [{ address: "ada@acme.example", lastName: "King" }],
  });
  const { news } = await newsIn(`Email\n${text}\n`);
  expect(news[0]).toMatchObject({
    address: "ada@acme.example",
    ...(text.startsWith("Ada") && { firstName: first, lastName: last }),
  });
});

test("an import takes the first of several values in a cell, and reports the others", async () => {
  const read = await newsIn(
    "Email,Phone\na@x.example; b@x.example,+1 2 ::: +1 3\nc@x.example,n/a\nd@x.example,4.42E+11\ne@x.example,030/12 34 ext. 5\n",
  );
  expect(read.news.map(({ address, phoneNumber }) => [address, phoneNumber])).toEqual([
    ["a@x.example", "+1 2"],
    ["c@x.example", undefined],
    ["d@x.example", undefined],
    ["e@x.example", "030/12 34 ext. 5"],
  ]);
  expect(read.dropped).toEqual(["2 address", "2 phoneNumber", "3 phoneNumber", "4 phoneNumber"]);
});

test.each([
  ["Vorname;Name;E-Mail", "Anna;van der Berg;a@x.example", "Anna", "van der Berg"],
  ["Vorname;Name;E-Mail", "Anna;Anna Berg;a@x.example", "Anna", "Berg"],
  ["Vorname;Name;E-Mail", ";Anna Berg;a@x.example", "Anna", "Berg"],
  ["Name;Surname;E-Mail", "Anna Berg;Berg;a@x.example", "Anna", "Berg"],
  ["Vorname;Nachname;E-Mail", "Juan Carlos;Carlos;a@x.example", "Juan Carlos", "Carlos"],
  ["Nombre;Apellidos;Correo", "Gabriel;García Márquez;a@x.example", "Gabriel", "García Márquez"],
  ["Name;Surname;Email", "Ann;Best;a@x.example", "Ann", "Best"],
  ["First Name;Name;Email", "Bob;Robert Smith;a@x.example", "Bob", "Smith"],
  ["Nom;E-mail", "Jean Dupont;a@x.example", "Jean", "Dupont"],
])(
  "of the columns %s with %s an import takes the names %s and %s",
  async (header, row, firstName, lastName) => {
    expect((await newsIn(`${header}\n${row}\n`)).news).toMatchObject([{ firstName, lastName }]);
  },
);

test.each([
  ["Linkedin", "http://linkedin.com/in/ann?x=1", { networkAUrl: "http://linkedin.com/in/ann?x=1" }],
  ["LinkedIn", "ann-best-1a2b", { networkA: "ann-best-1a2b" }],
  ["LinkedIn", "https://www.linkedin.com/company/acme", {}],
  ["Website", "www.linkedin.com/in/ann", { networkAUrl: "https://www.linkedin.com/in/ann" }],
  ["Twitter", "ann", { networkB: "@ann" }],
  ["X Profile", "https://mobile.twitter.com/ann?lang=de", { networkB: "@ann" }],
  ["Website", "https://x.com/ann", { networkB: "@ann" }],
  ["Website", "https://x.com/search?q=ann", {}],
])("of a column %s with %s an import takes %j", async (column, text, expected) => {
  const { news, unused } = await newsIn(`Email,${column}\na@x.example,${text}\n`);
  expect(news).toEqual([{ address: "a@x.example", domain: "x.example", evidence: [], ...expected }]);
  expect(unused).toEqual(Object.keys(expected).length > 0 ? [] : [column]);
});

test.each([
  ["verified", "valid"],
  ["Deliverable", "valid"],
  ["Catch-all", "accept_all"],
  ["Hard bounced", "invalid"],
  ["guessed", undefined],
])(
  "an email status %s without a date is the verdict %s of the import's day, unless one is known",
  async (word, status) => {
    const { news } = await newsIn(`Email,Email Status\na@x.example,${word}\n`);
    const [first = { address: "", domain: "", evidence: [] }] = news;
    const day = Date.UTC(2026, 4, 6);
    const contact = mergeContact(null, first, day);
    expect(contact.verification).toEqual(status && { status, date: "2026-05-06" });
    const known = { ...contact, verification: { status: "unknown", date: "2020-01-01" } } as const;
    expect(mergeContact(known, first, day).verification).toEqual(known.verification);
  },
);

test.each([
  ["Windows-1252", Buffer.from("Email,Last Name\na@x.example,M\xfcller\n", "latin1")],
  ["Windows-1251", Buffer.from("Email,Last Name\na@x.example,\xc8\xe2\xe0\xed\xee\xe2\n", "latin1")],
  [
    "Shift_JIS with its header",
    Buffer.from("\x83\x81\x81\x5b\x83\x8b,\x96\xbc\na@x.example,\x8e\x52\n", "latin1"),
  ],
  ["UTF-16 without a mark", Buffer.from("Email,Last Name\na@x.example,Müller\n", "utf16le")],
])(
  "an import of a file in %s without its name is refused with a sentence about --encoding",
  async (_, bytes) => {
    await expect(newsIn(bytes)).rejects.toThrow(/Name its encoding with --encoding/);
  },
);

test.each(["dn: cn=Ann,dc=a\nmail: ann@a.example\n", "version: 1\n\ndn:: Y249QW5u\nmail: ann@a.example\n"])(
  "an import refuses LDIF instead of reading its lines as rows: %j",
  async (text) => {
    await expect(newsIn(text)).rejects.toThrow("The file is LDIF: export the contacts as CSV or vCard");
  },
);

test("an import reads other encodings by their names, and refuses bytes that are not of them", async () => {
  const cyrillic = Buffer.from("Email,Last Name\na@x.example,\xc8\xe2\xe0\xed\xee\xe2\n", "latin1");
  const read = await newsIn(cyrillic, "csv", {}, "windows-1251");
  expect(read).toMatchObject({ bad: [], news: [{ lastName: "Иванов" }] });
  await expect(newsIn(cyrillic, "csv", {}, "utf-8")).rejects.toThrow(/Name another encoding/);
});

test("an import refuses Windows-1252 that begins late in a file, and reads a character at the border of two parts", async () => {
  for (const size of [65_535, 65_536, 65_537, 200_000]) {
    const start = `Email,Last Name\n${"a@x.example,A\n".repeat(size / 14)}`;
    const text = `${start.padEnd(size - 14, " ")}\nb@x.example,é\n`;
    const { news } = await newsIn(bytesOf({ text, encoding: "utf-8" }), undefined, {}, undefined, 65_536);
    expect(news.at(-1)?.lastName, String(size)).toBe("é");
    await expect(newsIn(bytesOf({ text, encoding: "windows-1252" }))).rejects.toThrow(/--encoding/);
  }
});

test.each(["Emails", "E-Mail-Adressen", "user_email", "Kontakt", "Work Email (verified)", "To", ""])(
  "a column %j of addresses is found by its cells, and the others keep their meaning",
  async (column) => {
    const { news, bad } = await newsIn(
      `First Name,${column},Job Title\nAnn,ann@a.example,CEO\nBo,bo@a.example,\n`,
    );
    expect(bad).toEqual([]);
    expect(news).toMatchObject([
      { address: "ann@a.example", firstName: "Ann", position: "CEO" },
      { firstName: "Bo" },
    ]);
  },
);

test("an import of a file without a header takes its first line too, and a column of two words as the name", async () => {
  const alone = await newsIn("ann@a.example\nbo@a.example\n");
  expect(alone.news.map(({ address }) => address)).toEqual(["ann@a.example", "bo@a.example"]);
  const { news } = await newsIn("Ada Lovelace,ada@a.example\nBo Kay,bo@a.example\n");
  expect(news).toMatchObject([
    { firstName: "Ada", lastName: "Lovelace" },
    { firstName: "Bo", lastName: "Kay" },
  ]);
});

test.each(["name,position\nAnn,CEO\n", "Vorname;Kontakt\nAnn;keine\n"])(
  "an import without a column of addresses names the columns that it found: %j",
  async (text) => {
    const [first, second] = text.split(/[,;\n]/);
    await expect(newsIn(text)).rejects.toThrow(
      `Found "${first}", "${second}". Name the column with --map address=`,
    );
  },
);

test("an import skips empty rows, accepts empty cells at the end, and rejects other numbers of cells", async () => {
  const { news, bad } = await newsIn(
    'Title\n\n;;\nEmail;Name\n;\n \na@x.example;"A\nB";\nb@x.example;B;C\nc@x.example\nd@x.example;D\n',
  );
  expect(news.map(({ address }) => address)).toEqual(["a@x.example", "d@x.example"]);
  expect(bad).toEqual([
    { line: 9, reason: "columns" },
    { line: 10, reason: "columns" },
  ]);
});

test("an import takes no person for the header, and finds the header below notes with an address", async () => {
  const people = "Ann Lee;ann@x.example;Brief\nDi Roe;;E-Mail\nBo Kay;bo@x.example;Brief\n";
  const found = await newsIn(`Name;Kontaktpost;Kanal\n${people}`);
  expect(found.news.map(({ address }) => address)).toEqual(["ann@x.example", "bo@x.example"]);
  const mapped = await newsIn(`Name;Kontaktpost;Kanal\n${people}`, "csv", { address: "Kontaktpost" });
  expect(mapped.news.map(({ address }) => address)).toEqual(["ann@x.example", "bo@x.example"]);
  for (const note of ["Contact: me@x.example", "Exported by;me@x.example;"]) {
    const { news } = await newsIn(`${note}\nName;E-Mail;Kanal\n${people}`);
    expect(news.map(({ address }) => address)).toEqual(["ann@x.example", "bo@x.example"]);
  }
});

test("an import rejects a cell with further rows, as a stray quotation mark makes it, and keeps one with other lines", async () => {
  const rows = Array.from({ length: 500 }, (_, index) => `P,p${index}@x.example,n`);
  const lines = ["Name,Email,Note", 'Ann,ann@x.example,"see file', ...rows, 'Cy,cy@x.example,"fine"'];
  const note = 'Di,di@x.example,"call\ned@x.example, if absent"';
  const { news, bad } = await newsIn([...lines, note].join("\n"));
  expect(bad).toEqual([{ line: 503, reason: "columns" }]);
  expect(news.map(({ address }) => address)).toEqual(["di@x.example"]);
});
