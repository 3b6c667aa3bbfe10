import { describe, expect, test } from "vitest";
import { contactOf, createLookupSite, createScriptedProber, LISTS } from "../../test/lookup-site.ts";
import { isServiceError, ServiceError } from "../errors.ts";
import type { Lookup } from "./lookup.ts";
import { createMemoryContactSource } from "./memory/memory-contact-source.ts";
import { createMemorySuppressionList } from "./memory/memory-suppression-list.ts";

const ADA = contactOf("ada.lovelace@example.com", {
  ...{ firstName: "Ada", lastName: "Lovelace", position: "Chief Analyst", confidence: 94 },
  ...{ seniority: "executive", department: "it", networkA: "ada", networkAUrl: "https://n.example/ada" },
});
const SALES = contactOf("sales@example.com", { type: "generic", department: "sales" });
const known = [ADA, SALES, contactOf("grace.hopper@example.com", { seniority: "senior" })];
const organizations = { "example.com": "Example" };
const CONFIRMED = { server: true, mailbox: true, acceptsAll: false };

type Site = Awaited<ReturnType<typeof createLookupSite>>;

async function used(site: Site): Promise<unknown> {
  const { body } = await site.get("account");
  const { searches, verifications } = Object(body.data?.requests) as Record<string, { used: number }>;
  return [searches?.used, verifications?.used];
}

/** Opened by the test. */
function createGate(): { opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

function siteOf(options: Parameters<typeof createLookupSite>[0] = {}): Promise<Site> {
  const prober = createScriptedProber(async () => CONFIRMED);
  return createLookupSite({ known, organizations, prober, lists: LISTS, ...options });
}

const CASES: [string, string, (lookup: Lookup) => Promise<unknown>][] = [
  ["domain-search", "domain=example.com", (it) => it.searchDomain({ domain: "example.com" })],
  ["domain-search", "domain=%20Example.COM", (it) => it.searchDomain({ domain: " Example.COM" })],
  ["domain-search", "company=exAMPLE", (it) => it.searchDomain({ company: "exAMPLE" })],
  ["domain-search", "company=Unknown", (it) => it.searchDomain({ company: "Unknown" })],
  [
    "domain-search",
    "domain=example.com&type=personal&seniority=executive,junior&department=it&limit=1&offset=0",
    (it) =>
      it.searchDomain({
        ...{ domain: "example.com", type: "personal", limit: 1, offset: 0 },
        ...{ seniority: ["executive", "junior"], department: ["it"] },
      }),
  ],
  [
    "domain-search",
    "domain=example.com&seniority=&offset=5",
    (it) => it.searchDomain({ domain: "example.com", seniority: [], offset: 5 }),
  ],
  [
    "email-finder",
    "domain=example.com&first_name=Ada&last_name=Lovelace",
    (it) => it.findEmail({ domain: "example.com", firstName: "Ada", lastName: "Lovelace" }),
  ],
  [
    "email-finder",
    "company=Example&full_name=Alan%20Turing&max_duration=3",
    (it) => it.findEmail({ company: "Example", fullName: "Alan Turing", maxDurationMs: 3000 }),
  ],
  [
    "email-finder",
    "domain=webmail.example&full_name=Alan%20Turing",
    (it) => it.findEmail({ domain: "webmail.example", fullName: "Alan Turing" }),
  ],
  ["email-verifier", "email=Ada.Lovelace@example.com", (it) => it.verifyEmail("Ada.Lovelace@example.com")],
  ["email-verifier", "email=%20a@webmial.example%20", (it) => it.verifyEmail(" a@webmial.example ")],
  ["email-verifier", "email=a..b@example.com", (it) => it.verifyEmail("a..b@example.com")],
  ["email-verifier", "email=a@trash.example", (it) => it.verifyEmail("a@trash.example")],
  ["email-count", "domain=example.com", (it) => it.countEmails({ domain: "example.com" })],
  [
    "email-count",
    "domain=example.com&type=generic",
    (it) => it.countEmails({ domain: "example.com", type: "generic" }),
  ],
];

test.each(CASES)("%s?%s in code is byte for byte the body over HTTP", async (operation, search, call) => {
  for (const networkNames of [undefined, { a: "work", b: "chat" }]) {
    const site = await siteOf(networkNames === undefined ? {} : { networkNames });
    const { status, text } = await site.get(operation, search);
    expect(status).toBe(200);
    expect(JSON.stringify(await call(site.lookup))).toBe(text);
  }
});

describe("refusals", () => {
  test.each<[string, string, string, (lookup: Lookup) => Promise<unknown>]>([
    ["bad_request", "wrong_params", "domain or the company", (it) => it.searchDomain({})],
    ["bad_request", "wrong_params", "domain or the company", (it) => it.searchDomain({ domain: " " })],
    ["bad_request", "wrong_params", "at least 3", (it) => it.searchDomain({ company: "ab" })],
    ["bad_request", "wrong_params", "at most 1000", (it) => it.countEmails({ company: "a".repeat(1001) })],
    ["bad_request", "invalid_domain", "not valid", (it) => it.countEmails({ domain: "no" })],
    [
      "bad_request",
      "pagination_error",
      "1 to 100",
      (it) => it.searchDomain({ domain: "a.example", limit: 101 }),
    ],
    [
      "bad_request",
      "pagination_error",
      "from 0",
      (it) => it.searchDomain({ domain: "a.example", offset: 0.5 }),
    ],
    [
      "bad_request",
      "wrong_params",
      "missing firstName and lastName, or fullName",
      (it) => it.findEmail({ domain: "a.example", firstName: "Ada" }),
    ],
    [
      "bad_request",
      "invalid_first_name",
      "firstName must not have digits",
      (it) => it.findEmail({ domain: "a.example", firstName: "R2", lastName: "D" }),
    ],
    [
      "bad_request",
      "invalid_last_name",
      "lastName",
      (it) => it.findEmail({ domain: "a.example", firstName: "Ada", lastName: "9" }),
    ],
    [
      "bad_request",
      "invalid_full_name",
      "fullName must have a first",
      (it) => it.findEmail({ domain: "a.example", fullName: "Ada" }),
    ],
    [
      "bad_request",
      "invalid_max_duration",
      "maxDurationMs must be a whole number from 3000 to 20000",
      (it) => it.findEmail({ domain: "a.example", fullName: "Ada Lovelace", maxDurationMs: 3 }),
    ],
    [
      "bad_request",
      "invalid_max_duration",
      "from 3000 to 20000",
      (it) => it.verifyEmail("a@b.example", { maxDurationMs: 20_001 }),
    ],
    ["bad_request", "wrong_params", "missing the email", (it) => it.verifyEmail("")],
    ["bad_request", "invalid_email", "not valid", (it) => it.verifyEmail("ada")],
    ["not_found", "", "no such account", (it) => it.verifyEmail("a@b.example", { account: "unknown" })],
  ])("%s %s: %s", async (code, id, message, call) => {
    const site = await siteOf();
    const error = await call(site.lookup).catch((failure: unknown) => failure);
    expect(isServiceError(error)).toBe(true);
    expect(error).toMatchObject({ code, ...(id === "" ? {} : { id }) });
    expect(String(error)).toContain(message);
    expect([await used(site), site.errors]).toEqual([[0, 0], []]);
  });

  test("a value of another type is bad_request, as for input that a host passes on unchecked", async () => {
    const { lookup } = await siteOf();
    const unchecked: [string, object][] = [
      ["wrong_params", { domain: 7 }],
      ["wrong_params", { domain: ["example.com"] }],
      ["wrong_params", { domain: "example.com", type: {} }],
      ["invalid_type", { domain: "example.com", type: "both" }],
      ["invalid_seniority", { domain: "example.com", seniority: "senior" }],
      ["invalid_department", { domain: "example.com", department: [null] }],
      ["pagination_error", { domain: "example.com", limit: "10" }],
    ];
    for (const [id, parameters] of unchecked) {
      await expect(lookup.searchDomain(parameters)).rejects.toMatchObject({ code: "bad_request", id });
    }
    const email: unknown = { toString: () => "a@b.example" };
    await expect(lookup.verifyEmail(email as string)).rejects.toMatchObject({ id: "wrong_params" });
  });

  test("a parameter or option of an unknown name is a TypeError that names the nearest", async () => {
    const { lookup } = await siteOf();
    const misspelt: object = { domain: "example.com", senority: ["senior"] };
    await expect(lookup.searchDomain(misspelt)).rejects.toThrow(/senority .*did you mean seniority\?/);
    const seconds: object = { maxDurationMS: 5 };
    await expect(lookup.verifyEmail("a@b.example", seconds)).rejects.toThrow(TypeError);
    await expect(lookup.verifyEmail("a@b.example", { account: "" })).rejects.toThrow(TypeError);
    const noSignal: object = { signal: {} };
    await expect(lookup.countEmails({ domain: "example.com" }, noSignal)).rejects.toThrow(/an AbortSignal/);
  });

  test("a suppressed person is withheld, a suppressed domain bad_request", async () => {
    const { lookup } = await siteOf();
    await lookup.suppress("ada.lovelace@example.com");
    const claimed = { code: "withheld", id: "claimed_email" };
    await expect(lookup.verifyEmail("Ada.Lovelace@example.com")).rejects.toMatchObject(claimed);
    const ada = { domain: "example.com", fullName: "Ada Lovelace" };
    await expect(lookup.findEmail(ada)).rejects.toMatchObject(claimed);
    const { data } = await lookup.searchDomain({ domain: "example.com", type: "personal" });
    expect(data.emails.map(({ value }) => value)).toEqual(["grace.hopper@example.com"]);
    await lookup.suppress("example.com");
    const closed = { code: "bad_request", id: "invalid_domain" };
    await expect(lookup.searchDomain({ domain: "example.com" })).rejects.toMatchObject(closed);
    await expect(lookup.countEmails({ domain: "example.com" })).rejects.toMatchObject(closed);
  });

  test("a failing backend is store_unavailable with its cause, and costs nothing", async () => {
    const cause = new Error("driver");
    const failure = new ServiceError("store_unavailable", "The database is away", { cause });
    const contacts = { ...createMemoryContactSource(), search: () => Promise.reject(failure) };
    const site = await siteOf({ contacts });
    const { account } = site;
    await expect(site.lookup.searchDomain({ domain: "example.com" }, { account })).rejects.toBe(failure);
    // The caller has the error: onError is for failures that only a client would see.
    expect([await used(site), site.errors]).toEqual([[0, 0], []]);
  });

  test("another secret is host_misuse, and nothing is told", async () => {
    const suppressions = createMemorySuppressionList();
    await (await siteOf({ suppressions })).lookup.ready();
    const { lookup } = await siteOf({ suppressions, secret: "another secret of at least 32 bytes" });
    await expect(lookup.verifyEmail("ada.lovelace@example.com")).rejects.toMatchObject({
      code: "host_misuse",
    });
    await expect(lookup.searchDomain({ domain: "example.com" })).rejects.toMatchObject({
      code: "host_misuse",
    });
  });
});

describe("counting", () => {
  const ask = (site: Site, account?: string) => {
    const options = account === undefined ? {} : { account };
    return Promise.all([
      site.lookup.searchDomain({ domain: "example.com" }, options),
      site.lookup.findEmail({ domain: "example.com", fullName: "Ada Lovelace" }, options),
      site.lookup.verifyEmail("ada.lovelace@example.com", options),
      site.lookup.countEmails({ domain: "example.com" }),
    ]);
  };

  test("look-ups without an account are not counted", async () => {
    const site = await siteOf();
    await ask(site);
    expect(await used(site)).toEqual([0, 0]);
  });

  test("look-ups of an account cost as over HTTP, and the same again in the month nothing, either way", async () => {
    const site = await siteOf();
    await ask(site, site.account);
    expect(await used(site)).toEqual([2, 1]);
    await ask(site, site.account);
    await site.get("domain-search", "domain=example.com");
    await site.get("email-finder", "domain=example.com&full_name=Ada%20Lovelace");
    await site.get("email-verifier", "email=ada.lovelace@example.com");
    expect(await used(site)).toEqual([2, 1]);
  });

  test("an account without points is rate_limited until the next month, a call without an account is not", async () => {
    const site = await siteOf({ plans: { free: { searches: 1, verifications: 0 } } });
    const { lookup, account, clock } = site;
    const monthMs = Date.parse("2026-04-01T00:00:00.000Z") - clock.now;
    const refusal = { code: "rate_limited", id: "too_many_requests", retryAfterMs: monthMs };
    await expect(lookup.verifyEmail("ada.lovelace@example.com", { account })).rejects.toMatchObject(refusal);
    await lookup.searchDomain({ domain: "example.com" }, { account });
    const other = { domain: "example.com", limit: 1 };
    await expect(lookup.searchDomain(other, { account })).rejects.toMatchObject(refusal);
    expect((await lookup.searchDomain(other)).data.emails).toHaveLength(1);
    expect((await lookup.verifyEmail("ada.lovelace@example.com")).data.status).toBe("valid");
  });

  test("requests per second are not limited", async () => {
    const { lookup, account } = await siteOf({ requestsPerSecond: 1 });
    const calls = Array.from({ length: 20 }, () =>
      lookup.searchDomain({ domain: "example.com" }, { account }),
    );
    expect(await Promise.all(calls)).toHaveLength(20);
  });
});

test("a verification that takes long resolves as the 202 over HTTP, goes on, and is counted once", async () => {
  const gate = createGate();
  const prober = createScriptedProber(async () => {
    await gate.opened;
    return CONFIRMED;
  });
  const site = await siteOf({ prober });
  const { lookup, account } = site;
  const ask = () => lookup.verifyEmail("new@example.com", { account, maxDurationMs: 3000 });
  const [early, overHttp] = await Promise.all([
    ask(),
    site.get("email-verifier", "email=new@example.com&max_duration=3"),
  ]);
  expect(overHttp.status).toBe(202);
  expect(JSON.stringify(early)).toBe(overHttp.text);
  expect(early.data).toEqual({ result: null, status: null, score: null, email: "new@example.com" });
  gate.open();
  expect((await ask()).data).toMatchObject({ status: "valid", result: "deliverable" });
  expect(prober.asked).toHaveLength(1);
  expect(await used(site)).toEqual([0, 1]);
});

describe("a signal", () => {
  const reason = new Error("the visitor left");

  test("that has aborted rejects with its reason, and nothing is asked", async () => {
    const prober = createScriptedProber(async () => CONFIRMED);
    const site = await siteOf({ prober });
    const options = { account: site.account, signal: AbortSignal.abort(reason) };
    await expect(site.lookup.verifyEmail("new@example.com", options)).rejects.toBe(reason);
    await expect(site.lookup.searchDomain({ domain: "example.com" }, options)).rejects.toBe(reason);
    expect(prober.asked).toEqual([]);
    expect(await used(site)).toEqual([0, 0]);
  });

  test("that aborts rejects at once; the work goes on and is counted", async () => {
    const [begun, gate] = [createGate(), createGate()];
    const prober = createScriptedProber(async () => {
      begun.open();
      await gate.opened;
      return CONFIRMED;
    });
    const site = await siteOf({ prober });
    const { lookup, account } = site;
    const controller = new AbortController();
    const call = lookup.verifyEmail("new@example.com", { account, signal: controller.signal });
    await begun.opened;
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    gate.open();
    expect((await lookup.verifyEmail("new@example.com")).data).toMatchObject({ status: "valid" });
    await lookup.verifyEmail("new@example.com", { account });
    expect(await used(site)).toEqual([0, 1]);
    expect(prober.asked).toHaveLength(1);
  });
});

test("close() waits for calls under way, left ones too, and rejects new ones with overloaded", async () => {
  const [begun, gate] = [createGate(), createGate()];
  const events: string[] = [];
  const contacts = createMemoryContactSource({ contacts: known });
  const { search, close } = contacts;
  contacts.search = async (...given) => {
    begun.open();
    await gate.opened;
    events.push("searched");
    return search(...given);
  };
  contacts.close = () => {
    events.push("closed");
    return close();
  };
  const { lookup } = await siteOf({ contacts });
  const controller = new AbortController();
  const stays = lookup.searchDomain({ domain: "example.com" });
  const leaves = lookup.searchDomain({ domain: "example.com" }, { signal: controller.signal });
  await begun.opened;
  controller.abort();
  await expect(leaves).rejects.toBe(controller.signal.reason);
  const closed = lookup.close();
  await expect(lookup.verifyEmail("a@b.example")).rejects.toMatchObject({ code: "overloaded" });
  gate.open();
  expect((await stays).data.emails).toHaveLength(3);
  await closed;
  expect(events).toEqual(["searched", "searched", "closed"]);
});
