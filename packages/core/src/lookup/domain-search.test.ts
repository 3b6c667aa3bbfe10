import { expect, test } from "vitest";
import { contactOf, createLookupSite, LISTS, type LookupAnswer } from "../../test/lookup-site.ts";

const ADA = contactOf("ada.lovelace@example.com", {
  confidence: 94,
  firstName: "Ada",
  lastName: "Lovelace",
  position: "Chief Analyst",
  seniority: "executive",
  department: "management",
  networkA: "ada-lovelace",
  networkB: "ada",
  phoneNumber: "+44 20 7946 0123",
  verification: { status: "accept_all", date: "2026-02-03" },
});
const SALES = contactOf("sales@example.com", { type: "generic", confidence: 60, department: "sales" });
const GRACE = contactOf("grace.hopper@example.com", {
  confidence: 94,
  firstName: "Grace",
  lastName: "Hopper",
  seniority: "senior",
  department: "it",
  position: "Directrice Générale",
});
const known = [SALES, GRACE, ADA];
const organizations = { "example.com": "Example Ltd" };

function entries({ data }: LookupAnswer["body"]): Record<string, unknown>[] {
  const emails = data?.emails;
  return Array.isArray(emails) ? emails : [];
}

function values(body: LookupAnswer["body"]): unknown[] {
  return entries(body).map(({ value }) => value);
}

test("domain-search returns a domain, its pattern, its organisation and its addresses in the documented form", async () => {
  const site = await createLookupSite({ known, organizations });
  const { status, headers, body } = await site.get("domain-search", "domain=Example.COM");
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    "Content-Type": "application/json; charset=utf-8",
    "Cache-Control": "no-store",
  });
  expect(body.data).toMatchObject({
    domain: "example.com",
    webmail: false,
    pattern: "{first}.{last}",
    organization: "Example Ltd",
    accept_all: false,
    linked_domains: [],
  });
  expect(values(body)).toEqual([ADA.address, GRACE.address, SALES.address]);
  expect(entries(body)[0]).toEqual({
    value: "ada.lovelace@example.com",
    type: "personal",
    confidence: 94,
    sources: [
      {
        domain: "example.com",
        uri: "https://example.com/team/24",
        extracted_on: "2025-06-01",
        last_seen_on: "2026-02-01",
        still_on_page: true,
      },
    ],
    first_name: "Ada",
    last_name: "Lovelace",
    position: "Chief Analyst",
    seniority: "executive",
    department: "management",
    network_a: "ada-lovelace",
    network_a_url: null,
    network_b: "ada",
    phone_number: "+44 20 7946 0123",
    verification: { date: "2026-02-03", status: "accept_all" },
    position_raw: "Chief Analyst",
  });
  expect(entries(body)[1]).toMatchObject({ verification: { date: null, status: null } });
  expect(body.meta).toEqual({
    results: 3,
    limit: 10,
    offset: 0,
    params: {
      domain: "Example.COM",
      company: null,
      type: null,
      offset: null,
      seniority: null,
      department: null,
      required_field: null,
      verification_status: null,
      job_titles: null,
    },
  });
});

test.each([
  ["type=personal", [ADA, GRACE]],
  ["type=generic", [SALES]],
  ["seniority=senior,executive", [ADA, GRACE]],
  ["department=it,sales", [GRACE, SALES]],
  ["department=IT&seniority=executive", []],
  ["limit=1", [ADA]],
  ["limit=1&offset=1", [GRACE]],
  ["offset=3", []],
  ["limit=&offset=&type=", [ADA, GRACE, SALES]],
  ["limit=0", [ADA, GRACE, SALES]],
  ["seniority=senior;executive", [ADA, GRACE]],
  ["department=it;%20sales", [GRACE, SALES]],
  ["required_field=full_name", [ADA, GRACE]],
  ["required_field=phone_number;%20Full_Name,", [ADA]],
  ["required_field=position&seniority=senior", [GRACE]],
  ["verification_status=accept_all,valid", [ADA]],
  ["verification_status=valid;unknown", []],
  ["job_titles=analyst", [ADA]],
  ["job_titles=ANALYST,directrice%20generale", [ADA, GRACE]],
  ["job_titles=general;chief", [ADA]],
  ["job_titles=analyst&verification_status=unknown", []],
  ["required_field=&verification_status=%20&job_titles=&location=", [ADA, GRACE, SALES]],
])("%s", async (search, expected) => {
  const site = await createLookupSite({ known });
  const { body } = await site.get("domain-search", `domain=example.com&${search}`);
  expect(values(body)).toEqual(expected.map(({ address }) => address));
});

test.each([
  "required_field=bogus",
  "required_field=full_name,email",
  "required_field=,",
  "verification_status=invalid",
  "verification_status=valid,webmail",
  "job_titles=%21%21",
  "job_titles=CTO,%20%2D%2D",
  `job_titles=${"a,".repeat(21)}`,
  "location=London",
])("domain-search with %s answers 400 wrong_params", async (search) => {
  const site = await createLookupSite({ known });
  const { status, body } = await site.get("domain-search", `domain=example.com&${search}`);
  expect([status, body.errors?.[0]?.id]).toEqual([400, "wrong_params"]);
  expect(String(body.errors?.[0]?.details)).toContain(search.slice(0, search.indexOf("=")));
});

test("domain-search lists the other domains of the company, without suppressed ones", async () => {
  const site = await createLookupSite({
    known,
    organizations: { ...organizations, "example.org": "EXAMPLE ltd", "example.net": "Example Ltd" },
  });
  await site.contacts.load({ organizations: { "hidden.example": "Example Ltd" } });
  await site.lookup.suppress("hidden.example");
  await site.contacts.load({ organizations: { "hidden.example": "Example Ltd" } });
  const { body } = await site.get("domain-search", "domain=example.com");
  expect(body.data).toMatchObject({ linked_domains: ["example.net", "example.org"] });
});

test("domain-search finds the domain of a company", async () => {
  const site = await createLookupSite({ known, organizations });
  const { body } = await site.get("domain-search", "company=example%20LTD");
  expect(body.data).toMatchObject({ domain: "example.com" });
  expect(body.meta?.params).toMatchObject({ domain: null, company: "example LTD" });
});

test.each([
  ["domain=Unknown.Example", "unknown.example"],
  ["domain=unknown.example&company=Example%20Ltd", "unknown.example"],
  ["domain=b%C3%BCcher.example&type=generic", "xn--bcher-kva.example"],
  ["company=Unknown%20Company", null],
])("domain-search for %s returns no data but the domain %s, and costs nothing", async (search, domain) => {
  const site = await createLookupSite({ known, lists: LISTS });
  const { status, body } = await site.get("domain-search", search);
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ domain, pattern: null, organization: null, emails: [] });
  expect(body.meta).toMatchObject({ results: 0 });
  const { body: account } = await site.get("account");
  expect(account.data).toMatchObject({ requests: { searches: { used: 0 } } });
});

test.each([
  ["", "wrong_params"],
  ["domain=", "wrong_params"],
  ["company=ab", "wrong_params"],
  ["domain=localhost", "invalid_domain"],
  ["domain=https://example", "invalid_domain"],
  ["domain=192.0.2.1", "invalid_domain"],
  ["domain=example.com&limit=101", "pagination_error"],
  ["domain=example.com&limit=undefined", "pagination_error"],
  ["domain=example.com&limit=1.5", "pagination_error"],
  ["domain=example.com&offset=-1", "pagination_error"],
  ["domain=example.com&type=both", "invalid_type"],
  ["domain=example.com&seniority=boss", "invalid_seniority"],
  ["domain=example.com&department=it,magic", "invalid_department"],
  ["domain=%ff", "wrong_params"],
  [`domain=${"a".repeat(1001)}`, "wrong_params"],
])("domain-search rejects %s with %s", async (search, id) => {
  const site = await createLookupSite({ known });
  const { status, body } = await site.get("domain-search", search);
  expect(status).toBe(400);
  expect(body).toEqual({ errors: [{ id, code: 400, details: expect.any(String) }] });
});

test("repeated and bracketed parameters do not change the type of a value", async () => {
  const site = await createLookupSite({ known });
  const { body } = await site.get(
    "domain-search",
    "domain=example.com&domain=other.example&limit[]=1&limit=2",
  );
  expect(body.meta).toMatchObject({ limit: 2, params: { domain: "example.com" } });
});

test("the network fields have the names of the option networkNames", async () => {
  const site = await createLookupSite({ known: [ADA], networkNames: { a: "linkedin", b: "twitter" } });
  const { body } = await site.get("domain-search", "domain=example.com");
  const [entry] = entries(body);
  expect(entry).toMatchObject({ linkedin: "ada-lovelace", linkedin_url: null, twitter: "ada" });
  expect(entry).not.toHaveProperty("network_a");
});

test("domain-search costs one point per ten addresses or part of ten, and nothing when repeated", async () => {
  const many = Array.from({ length: 25 }, (_, index) => contactOf(`person${index}@example.com`));
  const site = await createLookupSite({ known: many });
  const used = async () => (await site.get("account")).body.data?.requests;
  await site.get("domain-search", "domain=example.com&limit=25");
  expect(await used()).toMatchObject({ searches: { used: 3, available: 100 } });
  await site.get("domain-search", "limit=25&domain=EXAMPLE.com");
  expect(await used()).toMatchObject({ searches: { used: 3 } });
  await site.get("domain-search", "domain=example.com&limit=100&offset=20");
  expect(await used()).toMatchObject({ searches: { used: 4 } });
  site.clock.now = Date.parse("2026-04-01T00:00:00.000Z");
  expect(await used()).toMatchObject({ searches: { used: 0 } });
});

test("a repeated page costs only the addresses added since it was paid for", async () => {
  const people = (count: number) =>
    Array.from({ length: count }, (_, index) => contactOf(`person${index}@example.com`));
  const site = await createLookupSite({ known: people(3) });
  const search = () => site.get("domain-search", "domain=example.com&limit=100");
  const used = async () => (await site.get("account")).body.data?.requests;
  expect(values((await search()).body)).toHaveLength(3);
  expect(await used()).toMatchObject({ searches: { used: 1 } });
  await site.contacts.load({ contacts: people(95) });
  expect(values((await search()).body)).toHaveLength(95);
  expect(await used()).toMatchObject({ searches: { used: 10 } });
  expect(values((await search()).body)).toHaveLength(95);
  expect(await used()).toMatchObject({ searches: { used: 10 } });
});

test("a page is shortened to the allowance that is left, and rejected if none is left", async () => {
  const many = Array.from({ length: 40 }, (_, index) => contactOf(`person${index}@example.com`));
  const site = await createLookupSite({ known: many, plans: { free: { searches: 2, verifications: 0 } } });
  const { body } = await site.get("domain-search", "domain=example.com&limit=40");
  expect(values(body)).toHaveLength(20);
  expect(body.meta).toMatchObject({ results: 40, limit: 20 });
  const refused = await site.get("domain-search", "domain=example.com&offset=20");
  expect(refused.status).toBe(429);
  expect(refused.body.errors?.[0]).toMatchObject({ id: "too_many_requests", code: 429 });
  expect(Number(refused.headers["Retry-After"])).toBe(30.5 * 86_400);
  // The first page is paid for: it costs nothing and keeps its length.
  const again = await site.get("domain-search", "domain=example.com&limit=40");
  expect(values(again.body)).toHaveLength(20);
});

test("1,000 simultaneous requests with 100 points left get exactly 100 answers", async () => {
  const many = Array.from({ length: 1000 }, (_, index) => contactOf(`person${index}@example.com`));
  const site = await createLookupSite({ known: many });
  const answers = await Promise.all(
    many.map((_, offset) => site.get("domain-search", `domain=example.com&limit=1&offset=${offset}`)),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(900);
});
