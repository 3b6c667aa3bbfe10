import assert from "node:assert/strict";
import {
  type Account,
  createLookupClient,
  type EmailEntry,
  type LookupClientOptions,
  OutriggerError,
  type VerdictReason,
} from "@outrigger/client";
import type { Department, MailProber, ProbeReason, ProbeResult, Seniority } from "@outrigger/core/lookup";
import { createMailLists } from "@outrigger/verifier";
import { afterAll, beforeAll, beforeEach, expect, expectTypeOf, test } from "vitest";
import type { AddressFault } from "../../packages/core/src/lookup/address/parse-address.ts";
import * as documented from "../lookup/documented-fields.ts";
import { type LookupSite, startLookupSite } from "../lookup/lookup-site.ts";
import { crowdOf, PEOPLE } from "../lookup/people.ts";
import { type Front, startFront } from "./front.ts";

const CLAIMED = "left.out@example.com";

/** A prober that blocks on `slow.example` until the test releases it. */
function createSlowProber() {
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const found: ProbeResult = {
    routing: "found",
    server: true,
    mailbox: true,
    acceptsAll: false,
    reason: null,
    retryAfterMs: null,
  };
  const prober: MailProber = {
    async probe(_local, domain) {
      if (domain === "slow.example") await finished;
      return found;
    },
    close: async () => {},
  };
  return { prober, finish };
}

let site: LookupSite;
let front: Front;
let slow: ReturnType<typeof createSlowProber>;

beforeAll(async () => {
  slow = createSlowProber();
  site = await startLookupSite({
    known: [...PEOPLE, ...crowdOf("crowd.example", 150)],
    prober: slow.prober,
    lists: createMailLists(),
  });
  await site.lookup.suppress(CLAIMED);
  front = await startFront(site);
});
beforeEach(() => {
  front.requests.length = 0;
});
afterAll(async () => {
  slow.finish();
  await front.close();
  expect(site.errors).toEqual([]);
  await site.close();
});

function client(more: Partial<LookupClientOptions> = {}) {
  return createLookupClient({ baseUrl: front.base, apiKey: site.key, ...more });
}

async function refusalOf(call: Promise<unknown>): Promise<OutriggerError> {
  const error = await call.catch((error: unknown) => error);
  assert.ok(error instanceof OutriggerError);
  return error;
}

test("a domain search returns every field and accepts every parameter", async () => {
  const { data, meta } = await client().domainSearch({ domain: "example.com" });
  const names: Readonly<Record<string, string>> = { linkedin: "network_a", twitter: "network_b" };
  expect(Object.keys(data).sort()).toEqual(documented.SEARCH_DATA.map((name) => names[name] ?? name).sort());
  expect(Object.keys(meta).sort()).toEqual(documented.SEARCH_META.toSorted());
  const [ada] = data.emails;
  expect(ada).toMatchObject({ value: "ada.lovelace@example.com", network_b: "ada.lovelace" });
  expect(ada?.sources[0]?.still_on_page).toBe(true);
  const page = await client().domainSearch({
    domain: "crowd.example",
    limit: 20,
    offset: 140,
    type: "personal",
    seniority: ["senior", "junior"],
    department: "it",
    requiredField: ["position"],
    jobTitles: ["Head of Engineering", "CTO"],
  });
  expect(page.data.emails).toHaveLength(10);
  expect(page.meta).toEqual({
    results: 150,
    limit: 20,
    offset: 140,
    params: {
      domain: "crowd.example",
      company: null,
      type: "personal",
      offset: 140,
      seniority: "junior,senior",
      department: "it",
      required_field: "position",
      verification_status: null,
      job_titles: "Head of Engineering,CTO",
    },
  });
  const unverified = await client().domainSearch({ domain: "crowd.example", verificationStatus: "valid" });
  expect(unverified.data).toMatchObject({ emails: [], accept_all: false, linked_domains: [] });
  const company = await client().domainSearch({ company: "Example Works" });
  expect(company.data.organization).toBe("Example Works");
});

test("a person is found by either form of the name, with any characters", async () => {
  const ada = await client().findEmail({ domain: "example.com", firstName: "Ada", lastName: "Lovelace" });
  expect(ada.data).toMatchObject({ email: "ada.lovelace@example.com", score: 94 });
  const params = { fullName: "Zoë & Ånne=+Lovelace", company: "Example Works", maxDuration: 5 };
  const { meta } = await client().findEmail(params);
  expect(meta.params).toMatchObject({ full_name: params.fullName, company: "Example Works", domain: null });
});

test("an address is sent and verified unchanged", async () => {
  const { data, meta } = await client().verifyEmail("a+b@example.com", { maxDuration: 3 });
  expect(data).toMatchObject({ email: "a+b@example.com", result: "deliverable", regexp: true, reason: null });
  expect(meta).toEqual({ params: { email: "a+b@example.com" } });
});

test("a slow verdict is polled at the interval of Retry-After", async () => {
  const verdict = client().verifyEmail("grace@slow.example", { maxDuration: 3 });
  await expect.poll(() => front.requests.length).toBe(2);
  slow.finish();
  expect((await verdict).data).toMatchObject({ status: "valid", score: 100 });
  const [first, second] = front.requests;
  expect(second?.line).toBe(first?.line);
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(4900);
});

test("email-count needs no key, and the account shows the points used", async () => {
  const { data } = await client({ apiKey: undefined }).countEmails({
    domain: "example.com",
    type: "generic",
  });
  expect(data).toMatchObject({ total: 1, generic_emails: 1, department: { sales: 1, it: 0 } });
  const account = await client().account();
  expect(Object.keys(account.data)).toEqual(documented.ACCOUNT_DATA);
  expectTypeOf(account.data).toEqualTypeOf<Account>();
  expect(account.data.requests.searches.available).toBe(100);
  expect(account.data.calls.used).toBeGreaterThan(0);
});

test("a refusal carries the lookup's own errors", async () => {
  const wrong = await refusalOf(client().domainSearch({ domain: "example.com", limit: 1000 }));
  expect(wrong).toMatchObject({
    status: 400,
    title: "pagination_error",
    message: "limit must be a whole number from 0 to 100",
    errors: [{ id: "pagination_error", code: 400, details: "limit must be a whole number from 0 to 100" }],
  });
  expect(await refusalOf(client().verifyEmail(CLAIMED))).toMatchObject({
    status: 451,
    title: "claimed_email",
  });
  expect(await refusalOf(client().domainSearch({}))).toMatchObject({ status: 400, title: "wrong_params" });
});

test("the key is sent in a header and nowhere else", async () => {
  await client().account();
  expect(front.requests).toHaveLength(1);
  expect(front.requests[0]?.headers["x-api-key"]).toBe(site.key);
  expect(front.requests[0]?.line).toBe("GET /people/v2/account");
  const unknown = client({ apiKey: "nobodys-key" });
  expect(await refusalOf(unknown.account())).toMatchObject({ status: 401, title: "authentication_failed" });
  const errors = [{ id: "authentication_failed", code: 401, details: "Not a key: nobodys-key" }];
  front.interject({
    status: 401,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ errors }),
  });
  const repeated = await refusalOf(unknown.account());
  expect([repeated.message, repeated.errors?.[0]?.details]).toEqual(["Not a key: …", "Not a key: …"]);
  const bad = "two\nlines";
  expect(() => client({ apiKey: bad })).toThrow(/^apiKey must be/);
});

test("the client's types equal the service's", () => {
  expectTypeOf<EmailEntry["department"]>().toEqualTypeOf<Department | null>();
  expectTypeOf<EmailEntry["seniority"]>().toEqualTypeOf<Seniority | null>();
  expectTypeOf<EmailEntry["network_a_url"]>().toEqualTypeOf<string | null | undefined>();
  expectTypeOf<VerdictReason>().toEqualTypeOf<
    ProbeReason | AddressFault | "no_mail_server" | "null_mx" | "no_lists"
  >();
});
