import { expect, test, vi } from "vitest";
import * as documented from "../../../../test/lookup/documented-fields.ts";
import { used } from "../../test/lookup-library-site.ts";
import { contactOf, createLookupSite, LISTS } from "../../test/lookup-site.ts";

const ADA = contactOf("ada.lovelace@example.com", {
  ...{ firstName: "Ada", lastName: "Lovelace", position: "Chief Analyst", seniority: "executive" },
  ...{ department: "it", networkA: "ada", networkB: "@adal", phoneNumber: "+44 20 7946 0000" },
});
const INFO = contactOf("info@example.com", { type: "generic", phoneNumber: "+44 20 7946 0001" });
const organizations = { "example.com": "Example", "example.org": "Example", "gone.example": "Example" };
const siteOf = (options: Parameters<typeof createLookupSite>[0] = {}) =>
  createLookupSite({ known: [ADA, INFO], organizations, lists: LISTS, ...options });

/** The value at a path such as `name.fullName`; `undefined` if a field is missing. */
function valueAt(data: unknown, path: string): unknown {
  return path.split(".").reduce((value, field) => Reflect.get(Object(value), field), data);
}

test("people/find has every field that clients read, with what the contact tells", async () => {
  const site = await siteOf();
  const { status, body } = await site.get("people/find", "email=Ada%20%3CAda.Lovelace@Example.com%3E");
  expect(status).toBe(200);
  expect(body.data).toMatchObject({
    name: { fullName: "Ada Lovelace", givenName: "Ada", familyName: "Lovelace" },
    email: "ada.lovelace@example.com",
    employment: { domain: "example.com", name: "Example", title: "Chief Analyst", role: "it" },
    twitter: { handle: "adal" },
    linkedin: { handle: "ada" },
    indexedAt: "2026-02-01",
    phone: "+44 20 7946 0000",
    location: null,
  });
  expect(body.data?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  const missing = documented.PERSON_FIELDS.filter((path) => valueAt(body.data, path) === undefined);
  expect(missing).toEqual([]);
  const params = { email: "Ada <Ada.Lovelace@Example.com>" };
  expect(body.meta).toEqual({ email: "ada.lovelace@example.com", params });
  const sample = await site.send("GET", "/v2/combined/find", {
    search: "api_key=test-api-key&email=Ada%20%3CAda.Lovelace@Example.com%3E",
  });
  expect(sample.body.meta).toEqual(body.meta);
});

const XING = "https://www.xing.com/profile/Grace_Hopper";
test.each([
  ["https://www.linkedin.com/in/grace-hopper/?x=1", null, "grace-hopper"],
  ["https://fr.linkedin.com/in/grace/fr", "other", "grace"],
  ["linkedin.com/pub/grace", null, "grace"],
  ["https://linkedin.com/pub/grace/?x=1", null, "grace"],
  ["https://www.linkedin.com/pub/grace-hopper/12/345/678", null, null],
  ["https://www.linkedin.com/in/gr%C3%A2ce-%E6%9D%8E", null, "grâce-李"],
  ["https://www.linkedin.com/in/50%25-%zz", null, "50%25-%zz"],
  ["https://linkedin.com.evil.example/in/grace", null, null],
  [XING, null, null],
  [XING, "Grace_Hopper", null],
  [XING, "linkedin.com/in/grace", "grace"],
  [null, "https://www.linkedin.com/in/grace", "grace"],
  [null, XING, null],
  [null, "@grace", "grace"],
  ["https://network.example/in/grace", "grace", "grace"],
])(
  "with the profile URL %s and the identifier %s, linkedin.handle is %s",
  async (networkAUrl, networkA, handle) => {
    const known = [contactOf("grace@example.com", { firstName: "Grace", networkAUrl, networkA })];
    const site = await siteOf({ known });
    const { body } = await site.get("people/find", "email=grace@example.com");
    expect(valueAt(body.data, "linkedin.handle")).toBe(handle);
  },
);

test.each([
  ["valid", "2026-02-03", null],
  ["invalid", null, "2026-02-03"],
  ["accept_all", null, null],
  [null, null, null],
] as const)(
  "after the verdict %s, activeAt is %s and inactiveAt %s",
  async (status, activeAt, inactiveAt) => {
    const verified = status === null ? {} : { verification: { status, date: "2026-02-03" } };
    const site = await siteOf({ known: [{ ...ADA, ...verified }] });
    const { body } = await site.get("people/find", `email=${ADA.address}`);
    expect(body.data).toMatchObject({ activeAt, inactiveAt });
  },
);

test.each([{ department: "it" }, { seniority: "senior" }] as const)(
  "people/find answers for a contact of which only %o is known",
  async (fact) => {
    const site = await siteOf({ known: [contactOf("eve@example.com", fact)] });
    const { status, body } = await site.get("people/find", "email=eve@example.com");
    expect([status, body.data?.employment]).toMatchObject([
      200,
      { role: null, seniority: null, ...("department" in fact ? { role: "it" } : fact) },
    ]);
  },
);

test("companies/find searches for as many role addresses as there are, at most 20, and for none not at all", async () => {
  const many = Array.from({ length: 30 }, (_, index) =>
    contactOf(`role${index}@many.example`, { type: "generic" }),
  );
  const none = contactOf("eve@example.org");
  const site = await siteOf({ known: [ADA, INFO, none, ...many] });
  const search = vi.spyOn(site.contacts, "search");
  for (const domain of ["example.com", "example.org", "many.example"]) {
    expect((await site.get("companies/find", `domain=${domain}`)).status).toBe(200);
  }
  expect(search.mock.calls.map(([domain, , { limit }]) => [domain, limit])).toEqual([
    ["example.com", 1],
    ["many.example", 20],
  ]);
});

test("companies/find has every field that clients read, with the role addresses that are not dead", async () => {
  const dead = contactOf("old@example.com", {
    ...{ type: "generic", verification: { status: "invalid", date: "2026-01-01" } },
  });
  const site = await siteOf({ known: [ADA, INFO, dead] });
  await site.lookup.suppress("gone.example");
  const { status, body } = await site.get("companies/find", "domain=https://www.example.com/team");
  expect(status).toBe(200);
  expect(body.data).toMatchObject({
    name: "Example",
    domain: "example.com",
    domainAliases: ["example.org"],
    site: { phoneNumbers: ["+44 20 7946 0001"], emailAddresses: ["info@example.com"] },
    phone: "+44 20 7946 0001",
    tags: [],
    description: null,
  });
  const missing = documented.COMPANY_FIELDS.filter((path) => valueAt(body.data, path) === undefined);
  expect(missing).toEqual([]);
  const params = { domain: "https://www.example.com/team", company: null };
  expect(body.meta).toEqual({ domain: "example.com", params });
  expect((await site.get("companies/find", "company=example")).body.data?.id).toBe(body.data?.id);
});

test("combined/find has the person and the company, and null for one that is unknown", async () => {
  const site = await siteOf();
  const both = await site.get("combined/find", "email=ada.lovelace@example.com");
  const person = await site.get("people/find", "email=ada.lovelace@example.com");
  const company = await site.get("companies/find", "domain=example.com");
  expect(both.body.data).toEqual({ person: person.body.data, company: company.body.data });
  const stranger = await site.get("combined/find", "email=stranger@example.com");
  expect(stranger.body.data).toEqual({ person: null, company: company.body.data });
});

test("an answer costs one search, and nothing if it is repeated, unknown or a HEAD request", async () => {
  const site = await siteOf();
  for (const _ of [1, 2]) await site.get("people/find", "email=ada.lovelace@example.com");
  expect(await used(site)).toEqual([1, 0]);
  await site.get("companies/find", "company=Example%20Ltd");
  await site.get("companies/find", "domain=www.example.com");
  expect(await used(site)).toEqual([2, 0]);
  expect((await site.get("people/find", "email=stranger@example.com")).status).toBe(404);
  const search = `api_key=${site.key}&email=info@example.com`;
  expect((await site.send("HEAD", "/v2/people/find", { search })).status).toBe(200);
  expect(await used(site)).toEqual([2, 0]);
});

test("of concurrent requests only those that the allowance covers are answered", async () => {
  const known = Array.from({ length: 30 }, (_, index) =>
    contactOf(`p${index}@example.com`, { firstName: "P" }),
  );
  const site = await siteOf({ known, plans: { free: { searches: 10, verifications: 0 } } });
  const replies = await Promise.all(known.map(({ address }) => site.get("people/find", `email=${address}`)));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(20);
});

test("404 answers a role address, an address without facts, and a domain of which nothing is known", async () => {
  const site = await siteOf({
    known: [
      INFO,
      contactOf("bare@example.com"),
      contactOf("eve@bare.example", { firstName: "Eve" }),
      contactOf("info@webmail.example", { type: "generic" }),
    ],
  });
  for (const [operation, search] of [
    ["people/find", "email=info@example.com"],
    ["people/find", "email=bare@example.com"],
    ["people/find", "email=ada.lovelace@unknown.example"],
    ["companies/find", "domain=unknown.example"],
    ["companies/find", "domain=bare.example"],
    ["companies/find", "domain=webmail.example"],
    ["companies/find", "company=Unknown"],
    ["combined/find", "email=eve@unknown.example"],
  ] as const) {
    const { status, body } = await site.get(operation, search);
    expect([search, status, body.errors]).toEqual([
      search,
      404,
      [{ id: "not_found", code: 404, details: expect.any(String) }],
    ]);
  }
  expect([await used(site), site.errors]).toEqual([[0, 0], []]);
});

test.each(["webmail.example", "trash.example", "alias.example"])(
  "an address at %s, a provider of email, disposable addresses or aliases, tells no employer and no company",
  async (domain) => {
    const site = await siteOf({
      known: [
        contactOf(`ada@${domain}`, { firstName: "Ada" }),
        contactOf(`info@${domain}`, { type: "generic" }),
      ],
      organizations: { [domain]: "Provider" },
      lists: { ...LISTS, isAlias: (each) => each === "alias.example" },
    });
    const { body } = await site.get("combined/find", `email=ada@${domain}`);
    expect(body.data).toMatchObject({
      person: { name: { fullName: "Ada" }, employment: { domain: null, name: null } },
      company: null,
    });
  },
);

test("a suppressed person is refused, and is no role address of the company", async () => {
  const site = await siteOf();
  await site.lookup.suppress(ADA.address);
  await site.lookup.suppress(INFO.address);
  await site.contacts.load({ contacts: [ADA, INFO] });
  for (const operation of ["people/find", "combined/find"]) {
    for (const email of [ADA.address, "ada.lovelace%2Bnews@example.com"]) {
      const { status, body } = await site.get(operation, `email=${email}`);
      expect([status, body.errors?.[0]?.id]).toEqual([451, "claimed_email"]);
    }
  }
  const { body } = await site.get("companies/find", "domain=example.com");
  expect(body.data?.site).toEqual({ phoneNumbers: [], emailAddresses: [] });
  expect(body.data?.phone).toBeNull();
});

test("linkedin_handle without an address or a name answers 400 with the reason", async () => {
  const site = await siteOf();
  for (const [operation, search] of [
    ["people/find", ""],
    ["combined/find", ""],
    ["email-finder", ""],
    ["email-finder", "domain=acme.example&"],
  ] as const) {
    const { status, body } = await site.get(operation, `${search}linkedin_handle=ada`);
    expect([status, body.errors?.[0]]).toMatchObject([
      400,
      { id: "wrong_params", details: expect.stringMatching(/linkedin_handle is not supported/) },
    ]);
  }
  expect((await site.get("people/find", `email=${ADA.address}&linkedin_handle=ada`)).status).toBe(200);
});

test("the test key gets a fixed profile for valid parameters, and a request without a key 401", async () => {
  const site = await siteOf();
  for (const [operation, search, field] of [
    ["people/find", "email=a@b.example", "name.givenName"],
    ["companies/find", "domain=b.example", "name"],
    ["combined/find", "email=a@b.example", "person.name.givenName"],
  ] as const) {
    const ask = (key: string) => site.send("GET", `/v2/${operation}`, { search: `${search}${key}` });
    const { status, body } = await ask("&api_key=test-api-key");
    expect([status, valueAt(body.data, field)]).toEqual([200, field === "name" ? "Example" : "Ada"]);
    expect((await ask("")).status).toBe(401);
  }
});

test("discover, leads and their kin answer 501 with the reason to every method, with and without a key", async () => {
  const site = await siteOf();
  const names = ["discover", "leads", "leads_lists", "leads_custom_attributes", "campaigns", "sequences"];
  for (const path of [...names, "discover/people", "leads/7", "leads_lists/7/", "campaigns/7/recipients"]) {
    for (const method of ["GET", "POST", "PUT", "DELETE"]) {
      for (const search of ["", `api_key=${site.key}`]) {
        const { status, body } = await site.send(method, `/v2/${path}`, { search });
        const details = expect.stringContaining("answers from its own contacts");
        expect([path, status, body]).toEqual([
          path,
          501,
          { errors: [{ id: "not_implemented", code: 501, details }] },
        ]);
      }
    }
  }
  expect(site.errors).toEqual([]);
});

test("the description says which fields of profiles are never null, and that inactiveAt may be a date", async () => {
  const site = await siteOf();
  const { text } = await site.send("GET", "/api/openapi.json");
  const { PersonProfile, CompanyProfile } = JSON.parse(text).components.schemas;
  const types = (profile: { properties: Record<string, { type: unknown }> }, ...names: string[]) =>
    names.map((name) => profile.properties[name]?.type);
  expect(types(PersonProfile, "id", "email")).toEqual(["string", "string"]);
  expect(types(CompanyProfile, "id", "domain")).toEqual(["string", "string"]);
  expect(types(CompanyProfile, "name")).toEqual([["string", "null"]]);
  expect(types(PersonProfile, "activeAt", "inactiveAt")).toEqual([
    ["string", "null"],
    ["string", "null"],
  ]);
  expect(types(PersonProfile.properties.employment, "domain")).toEqual([["string", "null"]]);
});
