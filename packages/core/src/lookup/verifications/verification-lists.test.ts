import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { type CallOptions, createCall } from "../../../test/calls.ts";
import { CONFIRMED, type Site, siteOf, used } from "../../../test/lookup-library-site.ts";
import { createScriptedProber } from "../../../test/lookup-site.ts";
import type { VerificationQueue } from "../../contracts/verification-queue.ts";
import { createMemoryVerificationQueue } from "../memory/memory-verification-queue.ts";

const PATH = "/v2/email-verifications";

interface Listed {
  id: string;
  total: number;
  done: number;
  status: string;
  results: Record<string, unknown>[];
}

async function add(site: Site, body: CallOptions): Promise<Listed> {
  const reply = await site.send("POST", PATH, { search: `api_key=${site.key}`, ...body });
  expect(reply.status, reply.text).toBe(202);
  return reply.body.data as unknown as Listed;
}

async function read(site: Site, id: string, search = ""): Promise<Listed> {
  const reply = await site.get(`email-verifications/${id}`, search);
  expect(reply.status, reply.text).toBe(200);
  return reply.body.data as unknown as Listed;
}

/** The list once every row has a result. */
async function finished(site: Site, id: string): Promise<Listed> {
  const list = () => read(site, id, "limit=1000");
  await expect.poll(list).toMatchObject({ status: "done" });
  return list();
}

async function csvOf(site: Site, id: string): Promise<string> {
  const call = createCall("GET", `${PATH}/${id}.csv`, { search: `api_key=${site.key}` });
  const reply = await site.lookup.handle(call);
  expect(reply?.headers["Content-Type"]).toBe("text/csv; charset=utf-8");
  return text(reply?.body as Readable);
}

test("a list gets the verdicts of single requests in its order, each address counted once", async () => {
  const prober = createScriptedProber(async (address) =>
    address.startsWith("gone") ? { ...CONFIRMED, mailbox: false, reason: "user_unknown" } : CONFIRMED,
  );
  const site = await siteOf({ prober });
  const emails = [
    "Ada@a.example",
    "gone@a.example",
    "me@webmail.example",
    "ada@A.example",
    "a b@a.example",
    "none",
  ];
  const queued = await add(site, { fields: { emails } });
  expect(queued).toEqual({ id: expect.stringMatching(/^[\w-]{22}$/), total: 6, done: 0, status: "queued" });
  const { results, ...list } = await finished(site, queued.id);
  expect(list).toEqual({ id: queued.id, total: 6, done: 6, status: "done" });
  expect(results.map(({ email, status }) => [email, status])).toEqual([
    ["Ada@a.example", "valid"],
    ["gone@a.example", "invalid"],
    ["me@webmail.example", "webmail"],
    ["ada@A.example", "valid"],
    ["a b@a.example", "invalid"],
    ["none", "invalid"],
  ]);
  // Ada and gone: webmail is free, and so is a text that is no address.
  expect(await used(site)).toEqual([0, 2]);
  expect(prober.asked.sort()).toEqual(["ada@a.example", "gone@a.example", "me@webmail.example"]);
  const { sources: _, ...single } = Object(
    (await site.get("email-verifier", "email=Ada@a.example")).body.data,
  );
  expect(results[0]).toEqual(single);
  expect(await used(site)).toEqual([0, 2]);
});

test("rows beyond the allowance are not_paid, not probed and not counted", async () => {
  const prober = createScriptedProber(async (address) =>
    address.startsWith("free") ? { mailbox: null, reason: "policy" } : CONFIRMED,
  );
  const site = await siteOf({ prober, plans: { free: { searches: 1, verifications: 10 } }, now: Date.now });
  // Unknown verdicts are free: they leave their points to other rows.
  const emails = Array.from(
    { length: 60 },
    (_, index) => `${index % 2 === 0 ? "free" : "paid"}${index}@a.example`,
  );
  const { results } = await finished(site, (await add(site, { fields: { emails } })).id);
  const count = (status: string) => results.filter((each) => each.status === status).length;
  expect(count("valid")).toBe(10);
  expect(count("unknown") + count("not_paid")).toBe(50);
  expect(results.find(({ status }) => status === "not_paid")).toEqual({
    ...{ result: null, status: "not_paid", score: null },
    email: expect.stringMatching(/@a\.example$/),
  });
  expect(await used(site)).toEqual([0, 10]);
  expect(prober.asked).toHaveLength(10 + count("unknown"));
});

test("a table keeps its other columns, neutralises formulas, and adds the results", async () => {
  const site = await siteOf();
  const csv =
    '\uFEFFName;E-Mail;Status\r\n"=HYPERLINK(1)";Ada@a.example;"a, ""b"""\r\n;;\r\nBob;someone;\r\n';
  const { id, total } = await add(site, { csv });
  expect(total).toBe(2);
  await finished(site, id);
  expect((await csvOf(site, id)).split("\r\n")).toEqual([
    "Name,E-Mail,Status,result,verification_status,score,regexp,gibberish,disposable,alias,webmail,mx_records,smtp_server,smtp_check,accept_all,block,reason,suggestion",
    '\'=HYPERLINK(1),Ada@a.example,"a, ""b""",deliverable,valid,100,true,false,false,false,false,true,true,true,false,false,,',
    "Bob,someone,,undeliverable,invalid,0,false,false,false,false,false,false,false,false,false,false,no_local,",
    "",
  ]);
});

test("pages of a list follow offset and limit", async () => {
  const site = await siteOf({ verifyAtOnce: 0 });
  const emails = Array.from({ length: 250 }, (_, index) => `p${index}@a.example`);
  const { id } = await add(site, { fields: { emails } });
  const page = async (search: string) => (await read(site, id, search)).results.map(({ email }) => email);
  expect(await page("")).toEqual(emails.slice(0, 100));
  expect(await page("limit=0")).toEqual(emails.slice(0, 100));
  expect(await page("offset=200&limit=1000")).toEqual(emails.slice(200));
  expect(await page("offset=999999999999999")).toEqual([]);
  const first = (await read(site, id, "limit=1")).results;
  expect(first).toEqual([{ result: null, status: null, score: null, email: "p0@a.example" }]);
  const { meta } = (await site.get(`email-verifications/${id}`, "limit=7&offset=3")).body;
  expect(meta).toEqual({ results: 250, offset: 3, limit: 7 });
  for (const search of ["limit=1001", "limit=x", "offset=-1"]) {
    const { status, body } = await site.get(`email-verifications/${id}`, search);
    expect([status, body.errors?.[0]?.id]).toEqual([400, "pagination_error"]);
  }
});

test("a list belongs to its account: any other gets 404", async () => {
  const site = await siteOf();
  const { id } = await add(site, { fields: { emails: ["ada@a.example"] } });
  const { key } = await site.lookup.createAccount();
  for (const path of [id, `${id}.csv`, "AAAAAAAAAAAAAAAAAAAAAA", "x", "%00"]) {
    const { status, body } = await site.send("GET", `${PATH}/${path}`, { search: `api_key=${key}` });
    expect([path, status, body.errors?.[0]?.id]).toEqual([path, 404, "not_found"]);
  }
  expect((await site.send("GET", `${PATH}/${id}`)).status).toBe(401);
  expect((await site.send("POST", PATH, { fields: { emails: ["a@a.example"] } })).status).toBe(401);
  expect((await site.send("HEAD", `${PATH}/${id}`, { search: `api_key=${site.key}` })).text).toBe("{}");
});

test("a list is kept for 30 days", async () => {
  const queue = createMemoryVerificationQueue();
  const site = await siteOf({ verifications: queue });
  const { id } = await add(site, { fields: { emails: ["ada@a.example"] } });
  await finished(site, id);
  site.clock.now += 30 * 86_400_000 - 1;
  expect((await read(site, id)).done).toBe(1);
  site.clock.now += 1;
  expect((await site.get(`email-verifications/${id}`)).status).toBe(404);
});

test.each<[string, CallOptions, RegExp]>([
  ["no body", {}, /no body/],
  ["no emails", { fields: {} }, /emails must be an array/],
  ["an empty list", { fields: { emails: [] } }, /no addresses/],
  ["a number", { fields: { emails: ["a@a.example", 1] } }, /emails\[1\] must be a string/],
  ["too many", { fields: { emails: Array(100_001).fill("a@a.example") } }, /at most 100000/],
  ["no column of addresses", { csv: "name,phone\nAda,1" }, /one of them email/],
  ["no rows", { csv: "email\n\n" }, /no addresses/],
  [
    "another number of columns",
    { csv: "email,name\na@a.example,A\nb@a.example" },
    /line 3.*number of columns/,
  ],
  ["an open quotation mark", { csv: 'email\n"a@a.example' }, /quotation mark is not closed/],
  ["too many rows", { csv: `email\n${"a@a.example\n".repeat(100_001)}` }, /at most 100000/],
  ["a column too many", { csv: `email${",a".repeat(200)}\n` }, /line 1.*more than 200 columns/],
  [
    "a long row",
    { csv: `email,c\na@a.example,\nb@a.example,${"ü".repeat(2050)}\n` },
    /line 3 \(row 2\).*4096 bytes/,
  ],
  [
    "a long quoted cell",
    { csv: `email,c\na@a.example,"${"\n".repeat(5000)}"\n` },
    /line 2 \(row 1\).*4096 bytes/,
  ],
  [
    "a long address",
    { csv: `email\n\n"\n"\na@a.example\n${"a".repeat(321)}\n` },
    /line 6 \(row 2\).*320 characters/,
  ],
  [
    "a long address in JSON",
    { fields: { emails: ["a@a.example", "a".repeat(321)] } },
    /emails\[1\].*320 characters/,
  ],
  ["a longer address in JSON", { fields: { emails: ["a", "a".repeat(5000)] } }, /emails\[1\].*4096 bytes/],
  ["an object", { fields: { emails: [{}] } }, /emails\[0\] must be a string/],
  ["a list within", { fields: { emails: ["a", ["b"]] } }, /emails\[1\] must be a string/],
  ["null", { fields: { emails: [null] } }, /emails\[0\] must be a string/],
  ["other text beside it", { fields: { emails: ["a"], note: "a".repeat(5000) } }, /4096 bytes/],
  ["values four levels deep", { fields: { a: { b: [[1]] }, emails: ["a"] } }, /3 levels/],
  ["many empty lines", { csv: `email\n${" ,\n".repeat(100_001)}` }, /100000 lines without text/],
])("a list with %s gets 400 wrong_params", async (_, body, details) => {
  const site = await siteOf();
  const reply = await site.send("POST", PATH, { search: `api_key=${site.key}`, ...body });
  expect(reply.body.errors?.[0]).toMatchObject({ id: "wrong_params", code: 400 });
  expect(reply.body.errors?.[0]?.details).toMatch(details);
});

/** Sends a list whose rows use 32 MB of memory. */
async function addLarge(site: Site, key = site.key): Promise<unknown[]> {
  const csv = `email,c\n${`a@a.example,${"z".repeat(4000)}\n`.repeat(3900)}`;
  const { status, headers, body } = await site.send("POST", PATH, { search: `api_key=${key}`, csv });
  return [status, headers["Retry-After"], body.errors?.[0]?.details];
}

test("the test key gets 100 rows and 64 KiB, and with testKey: false it is an unknown key everywhere", async () => {
  const search = "api_key=test-api-key";
  const emails = Array<string>(100).fill("a@a.example");
  const site = await siteOf();
  expect((await site.send("POST", PATH, { search, fields: { emails } })).status).toBe(202);
  const more = await site.send("POST", PATH, { search, fields: { emails: [...emails, "b"] } });
  expect([more.status, more.body.errors?.[0]?.details]).toEqual([
    400,
    "emails[100]: a list has at most 100 addresses",
  ]);
  const strict = await siteOf({ testKey: false });
  for (const [method, path] of [
    ["POST", PATH],
    ["GET", `${PATH}/sample-verification-00`],
    ["GET", "/v2/account"],
  ] as const) {
    const { status, body } = await strict.send(method, path, {
      search,
      ...(method === "POST" && { fields: { emails } }),
    });
    expect([path, status, body.errors?.[0]?.id]).toEqual([path, 401, "authentication_failed"]);
  }
  const count = async (from: typeof site) =>
    (await from.send("GET", "/v2/email-count", { search: `${search}&domain=example.com` })).body.data;
  expect(await count(strict)).not.toEqual(await count(site));
});

test("an account keeps at most 200,000 rows and twice its allowance, with 400 bytes each; a refused list uses no memory", async () => {
  const limits: unknown[] = [];
  const add: VerificationQueue["add"] = async (_list, _rows, ...given) => limits.push(given) < 0;
  const verifications = Object.assign(createMemoryVerificationQueue(), { add });
  const site = await siteOf({ verifications, plans: { free: { searches: 1, verifications: 50 } } });
  const details = "The lists of the last 30 days would exceed 200100 rows or 400 bytes for each of them";
  // Three of them exceed the memory of all lists that are being read.
  for (let list = 0; list < 4; list++) expect(await addLarge(site)).toEqual([429, "86400", details]);
  expect(limits[0]).toEqual([200_100, { bytes: expect.any(Number), maxBytes: 400 * 200_100 }, undefined]);
});

test("the test key gets a fixed list for a valid one, and the refusal for an invalid one", async () => {
  const site = await siteOf();
  const search = "api_key=test-api-key";
  const { status, headers, body } = await site.send("POST", PATH, { search, csv: "email\nx@y.example\n" });
  expect([status, body.data?.status, body.data?.total]).toEqual([202, "done", 1]);
  const path = new URL(String(headers.Location)).pathname;
  const sample = await site.send("GET", path, { search });
  expect(sample.body.data?.results).toMatchObject([{ email: "ada.lovelace@example.com", status: "valid" }]);
  expect((await site.send("POST", PATH, { search, csv: "name\nx\n" })).status).toBe(400);
  expect((await site.send("GET", `${PATH}/AAAAAAAAAAAAAAAAAAAAAA`, { search })).status).toBe(404);
});

test("a suppressed address is claimed without a probe, and its rows lose their text", async () => {
  const site = await siteOf();
  await site.lookup.suppress("hidden@a.example");
  const emails = ["Hidden+news@a.example", "ada@a.example", "bob@b.example"];
  const { id } = await add(site, {
    csv: `email,note\n${emails.map((each) => `${each},${each}`).join("\n")}`,
  });
  const before = (await finished(site, id)).results.map(({ email, status }) => [email, status]);
  expect(before).toEqual([
    ["", "claimed"],
    ["ada@a.example", "valid"],
    ["bob@b.example", "valid"],
  ]);
  expect(await csvOf(site, id)).not.toContain("idden");
  await site.lookup.suppress("b.example");
  await site.lookup.erase("ada@a.example");
  const after = (await read(site, id)).results.slice(1).map(({ email, status }) => [email, status]);
  expect(after).toEqual([
    ["", "claimed"],
    ["", "claimed"],
  ]);
  expect(await csvOf(site, id)).not.toMatch(/ada@|bob@/);
  expect(await used(site)).toEqual([0, 2]);
});
