import { expect, test } from "vitest";
import { newsIn as read } from "../../test/news-in.ts";
import { confidenceOf } from "../contacts/merge-contact.ts";

const WORK = "ann.best@acme.example";
const HOME = "ann@private.example";
const PROFILE = "https://www.linkedin.com/in/ann";
const PAGE = "https://acme.example/team";

test.each([
  ["Email,Email 2,First Name", `${WORK},${HOME},Ann`, ["Email 2"]],
  ["Email 2,Email", `${HOME},${WORK}`, ["Email 2"]],
  ["Email 3,Email 2,Email 1", `c@a.example,${HOME},${WORK}`, ["Email 2", "Email 3"]],
  ["Email2,Email1", `${HOME},${WORK}`, ["Email2"]],
  [
    "E-mail Address,E-mail 2 Address,E-mail 3 Address",
    `${WORK},${HOME},x@y.example`,
    ["E-mail 2 Address", "E-mail 3 Address"],
  ],
  ["E-mail 2 Address,E-mail Address", `,${WORK}`, []],
  ["E-mail Address,E-mail 2 Address", `,${WORK}`, []],
  ["Email,Email,EMAIL", `,${WORK},${HOME}`, ["EMAIL"]],
  ["Email,E-Mail", `${WORK},${WORK}`, []],
  ["Mail,Email", `${HOME},${WORK}`, ["Mail"]],
  ["Address,Email", `"1 Main St, London",${WORK}`, ["Address"]],
  ["Email Address,Address", `${WORK},1 Main St`, ["Address"]],
  ["Address 1,Address 2,Mail", `1 Main St,Floor 2,${WORK}`, ["Address 1", "Address 2"]],
  ["Value,Address,Email 2", `1000,1 Main St,${WORK}`, ["Address", "Value"]],
  ["Value,address", `12,${WORK}`, ["Value"]],
  ["Émail,Email", `${HOME},${WORK}`, ["Émail"]],
  ["Ämail,Ürl,value", `${HOME},x,${WORK}`, ["Ämail", "Ürl"]],
  ["Дополнительный Email,Email", `${HOME},${WORK}`, ["Дополнительный Email"]],
  ["邮箱 (Email)", WORK, []],
])(
  "of the columns %s an import takes the address %s and names the unused ones",
  async (header, line, unused) => {
    const expected = { bad: [], dropped: [], unused };
    const told = await read(`${header}\n${line}\n`);
    expect(told).toMatchObject({ ...expected, news: [{ address: WORK }] });
  },
);

test.each([
  ["Job Title,Title", "Chief Analyst,Mrs.", "Chief Analyst"],
  ["Title,Job Title", "Mrs.,Chief Analyst", "Chief Analyst"],
  ["Title,Job Title", "CEO,Chief Analyst", "Chief Analyst"],
  ["Job Title,Title", ",Mrs.", undefined],
  ["Job Title,Title", ",Head of Sales", "Head of Sales"],
  ["Job Title,Position", "Analyst,Chief Analyst", "Chief Analyst"],
  ["Title,Title", "Dr.,Head of Sales", "Head of Sales"],
  ["Title", "Frau Prof. Dr.", undefined],
  ["Title", "HR", "HR"],
  ["Job Title,Job Title 2", "CEO,Founder", "CEO"],
  ["Position", "Dr.", "Dr."],
])("of the columns %s with %s an import takes the position %s", async (header, line, position) => {
  expect((await read(`Email,${header}\n${WORK},${line}\n`)).news[0]?.position).toBe(position);
});

test("an import takes the first filled one of columns with equal names in each row, and no second person's name", async () => {
  const { news, unused } = await read(
    [
      "Company,Company,Email,First Name,Last Name,First Name 2,Last Name 2,Phone,Phone 2",
      `Acme Ltd,Other Ltd,${WORK},Ann,,Bob,Beta,,+44 2`,
      ",Bau GmbH,jo@bau.example,Jo,Groß,,,+44 1,+44 2",
    ].join("\n"),
  );
  expect(news).toEqual([
    {
      address: WORK,
      domain: "acme.example",
      organization: "Acme Ltd",
      firstName: "Ann",
      phoneNumber: "+44 2",
      evidence: [],
    },
    expect.objectContaining({ organization: "Bau GmbH", lastName: "Groß", phoneNumber: "+44 1" }),
  ]);
  expect(unused).toEqual(["Company", "First Name 2", "Last Name 2", "Phone 2"]);
});

test.each([
  ["Mobile Phone,Work Phone,Work Phone 2", "1,,3", "3"],
  ["Home Phone,Mobile,Phone", "1,2,", "2"],
  ["Fax,Company Phone,Home Phone", "1,2,3", "2"],
  ["Phone,Direct Phone", "1,2", "2"],
  ["Téléphone (domicile),Téléphone (bureau)", "1,2", "2"],
  ["Phone 1 - Type,Phone 1 - Value,Phone 2 - Type,Phone 2 - Value", "Home,1,Mobile,2", "2"],
  ["Phone 1 - Type,Phone 1 - Value,Phone 2 - Type,Phone 2 - Value", "Mobile,1,Work,2", "2"],
  ["Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,Phone 2 - Value", "Mobile,1,Work Fax,2", "1"],
  ["Phone,Phone 1 - Label,Phone 1 - Value", "1,Work,2", "2"],
  ["Phone,Phone 1 - Label,Phone 1 - Value", ",Pager,2", undefined],
])("of the columns %s with %s an import takes the phone %s", async (header, row, phoneNumber) => {
  const { news } = await read(`Email,${header}\n${WORK},${row}\n`);
  expect(news.map((each) => each.phoneNumber)).toEqual([phoneNumber]);
});

test.each([
  ["URL", PROFILE, PROFILE],
  ["url", "http://uk.linkedin.com/in/ann?x=1", "http://uk.linkedin.com/in/ann?x=1"],
  ["Source", PROFILE, PROFILE],
  ["URI", "https://www.xing.com/profile/Ann_Best", "https://www.xing.com/profile/Ann_Best"],
  ["URL", "https://x.com/ann", undefined],
  ["Source", "https://twitter.com/ann", undefined],
  ["URL", "https://acme.example", undefined],
  ["Source", "Trade fair", undefined],
  ["Source", "mailing: spring", undefined],
])("of a column %s with %s an import makes no source", async (column, text, networkAUrl) => {
  const expected = { bad: [], dropped: [], news: [{ address: WORK, evidence: [] }] };
  const row = await read(`Email,First Name,${column}\n${WORK},Ann,${text}\n`);
  expect(row).toMatchObject(expected);
  const object = JSON.stringify({ email: WORK, [column]: text, address: { street: "1 Main St" } });
  const line = await read(object, "ndjson");
  expect(line).toMatchObject(expected);
  for (const { news } of [row, line]) expect(news[0]?.networkAUrl).toBe(networkAUrl);
});

test.each(["Source URI", "source_url", "Source", "Source 1 URI", "uri"])(
  "of a column %s with a page an import makes a source without dates that claims nothing",
  async (column) => {
    const page = {
      domain: "acme.example",
      uri: PAGE,
      extractedOn: null,
      lastSeenOn: null,
      stillOnPage: false,
    };
    const told = await read(`Email,${column}\n${WORK},${PAGE}\n`);
    expect(told).toMatchObject({ bad: [], dropped: [], news: [{ evidence: [page] }] });
    expect(confidenceOf([page], 0)).toBe(20);
    expect(confidenceOf([page, { ...page, stillOnPage: true }], 0)).toBe(36);
  },
);

test("beside a date, a column of URLs names the page; --map makes any column the source or position", async () => {
  const seen = await read(`email,url,last_seen_on\n${WORK},${PAGE},2026-02-01\n`);
  expect(seen.news[0]?.evidence).toMatchObject([
    { uri: PAGE, extractedOn: "2026-02-01", lastSeenOn: "2026-02-01", stillOnPage: true },
  ]);
  const mapping = { sourceUri: "URL", position: "Title", address: "Value" };
  const mapped = await read(`Email,Value,URL,Title\n${HOME},${WORK},${PROFILE},Dr.\n`, "csv", mapping);
  expect(mapped.news).toMatchObject([{ address: WORK, position: "Dr.", evidence: [{ uri: PROFILE }] }]);
});

test("an import drops and reports invalid values of optional columns and keeps their lines", async () => {
  const lines = [
    ["https://a.example,2026-02-30,2026-03-01,,50", "extractedOn"],
    ["https://a.example,2026-03-01,2026-02-01,,50", "lastSeenOn"],
    ["javascript:x,,,,50", "sourceUri"],
    ["https://a.example,2026-03-01,,maybe,50", "stillOnPage"],
    ["https://a.example,2026-03-01,,,high", "confidence"],
    [`https://a.example/${"x".repeat(2000)},,,,101`, "confidence", "sourceUri"],
  ];
  const rows = lines.map(([values], index) => `p${index}@a.example,Ann,${values}`);
  const { news, bad, dropped } = await read(
    ["email,first_name,source_uri,extracted_on,last_seen_on,still_on_page,confidence", ...rows].join("\n"),
  );
  expect(bad).toEqual([]);
  expect(dropped).toEqual(
    lines.flatMap(([, ...fields], index) => fields.map((field) => `${index + 2} ${field}`)),
  );
  expect(news.map(({ evidence }) => evidence)).toMatchObject([
    [{ extractedOn: "2026-03-01", lastSeenOn: "2026-03-01" }],
    [{ extractedOn: "2026-03-01", lastSeenOn: "2026-03-01" }],
    [],
    [{ lastSeenOn: "2026-03-01", stillOnPage: false }],
    [{ stillOnPage: true }],
    [],
  ]);
  const objects = [
    { email: "q@a.example", confidence: 101, company: { name: "Acme" } },
    { email: "r@a.example", sources: [7, { source: "Trade fair", url: "https://a.example/r" }] },
    { email: "s@a.example", sources: "Trade fair" },
  ];
  const other = await read(objects.map((each) => JSON.stringify(each)).join("\n"), "ndjson");
  expect(other.bad).toEqual([]);
  expect(other.dropped).toEqual(["1 confidence", "1 organization", "2 sourceUri", "3 sourceUri"]);
  expect(other.news[1]?.evidence).toMatchObject([{ uri: "https://a.example/r", extractedOn: null }]);
});
