import { describe, expect, test } from "vitest";
import { contactOf, createLookupSite, createScriptedProber, LISTS } from "../../test/lookup-site.ts";
import type { MailProber, ProbeResult } from "../contracts/mail-prober.ts";

const FOUND: ProbeResult = {
  routing: "found",
  server: true,
  mailbox: null,
  acceptsAll: null,
  reason: null,
  retryAfterMs: null,
};
const ADA = contactOf("ada.lovelace@example.com", { confidence: 94 });

describe("email-verifier, by the probe's result,", () => {
  test.each([
    [{ server: true, mailbox: true, acceptsAll: false }, "deliverable", "valid", 100, null, 1],
    [
      { server: true, mailbox: false, reason: "user_unknown" },
      "undeliverable",
      "invalid",
      0,
      "user_unknown",
      1,
    ],
    [{ server: true, mailbox: true, acceptsAll: true }, "risky", "accept_all", 50, "accepts_all", 1],
    [
      { server: true, mailbox: true, acceptsAll: null, reason: "budget" },
      "deliverable",
      "valid",
      80,
      "budget",
      1,
    ],
    [{ routing: "none" }, "undeliverable", "invalid", 0, "no_mail_server", 1],
    [{ routing: "null_mx" }, "undeliverable", "invalid", 0, "null_mx", 1],
    [{ routing: "unknown", reason: "dns_failure" }, "risky", "unknown", 30, "dns_failure", 0],
    [{ server: true, reason: "policy" }, "risky", "unknown", 30, "policy", 0],
    [{ server: true, reason: "greylisted", retryAfterMs: 60_000 }, "risky", "unknown", 30, "greylisted", 0],
  ] as const)("judges %j as %s", async (probe, result, status, score, reason, cost) => {
    const prober = createScriptedProber(async () => probe);
    const site = await createLookupSite({ prober, lists: LISTS });
    const { body } = await site.get("email-verifier", "email=grace.hopper@example.com");
    expect(body.data).toMatchObject({ result, status, score, reason, email: "grace.hopper@example.com" });
    expect(body.meta).toEqual({ params: { email: "grace.hopper@example.com" } });
    const { body: account } = await site.get("account");
    expect(account.data).toMatchObject({ requests: { verifications: { used: cost } } });
  });

  test("reports smtp_check for a domain that accepts any name", async () => {
    const probe = { server: true, mailbox: null, acceptsAll: true, reason: "accepts_all" } as const;
    const site = await createLookupSite({ prober: createScriptedProber(async () => probe) });
    const { body } = await site.get("email-verifier", "email=ada@example.com");
    expect(body.data).toMatchObject({ smtp_server: true, smtp_check: true, accept_all: true });
  });

  test("does not judge a valid quoted local part", async () => {
    const site = await createLookupSite();
    const verdictOf = async (email: string) =>
      (await site.get("email-verifier", `email=${encodeURIComponent(email)}`)).body.data;
    for (const email of [
      '"a b"@example.com',
      '"a\\"b"@example.com',
      '"a@b"@example.com',
      '" "@example.com',
    ]) {
      const unknown = { status: "unknown", result: "risky", reason: "quoted_local", smtp_check: false };
      expect(await verdictOf(email), email).toMatchObject(unknown);
    }
    for (const email of ['"a b"@-a.example', '"a"b"@example.com', '"a\\"@example.com', '""@example.com']) {
      expect(await verdictOf(email), email).toMatchObject({ status: "invalid", result: "undeliverable" });
    }
  });

  test("returns every documented field, all booleans except sources and verdict", async () => {
    const probe = { server: true, mailbox: true, acceptsAll: false };
    const prober = createScriptedProber(async () => probe);
    const site = await createLookupSite({ known: [ADA], prober, lists: LISTS });
    const { body } = await site.get("email-verifier", "email=Ada.Lovelace@Example.com");
    expect(body.data).toEqual({
      result: "deliverable",
      status: "valid",
      score: 100,
      email: "Ada.Lovelace@Example.com",
      regexp: true,
      gibberish: false,
      disposable: false,
      alias: false,
      webmail: false,
      mx_records: true,
      smtp_server: true,
      smtp_check: true,
      accept_all: false,
      block: false,
      reason: null,
      suggestion: null,
      sources: [expect.objectContaining({ domain: "example.com", extracted_on: "2025-06-01" })],
    });
  });
});

test("an address is probed once for simultaneous requests, and not again until its result expires", async () => {
  const prober = createScriptedProber(async () => ({ mailbox: true, acceptsAll: false }));
  const site = await createLookupSite({ prober });
  const ask = (email: string) => site.get("email-verifier", `email=${email}`);
  await Promise.all([ask("grace@example.com"), ask("grace@example.com"), ask("GRACE@example.com")]);
  await ask("grace@example.com");
  expect(prober.asked).toEqual(["grace@example.com"]);
});

test("webmail and disposable addresses are checked in the DNS only, and cost nothing", async () => {
  const modes: boolean[] = [];
  const prober = createScriptedProber(async (_, smtp) => {
    modes.push(smtp);
    return {};
  });
  const site = await createLookupSite({ prober, lists: LISTS });
  const webmail = await site.get("email-verifier", "email=grace@webmail.example");
  expect(webmail.body.data).toMatchObject({ status: "webmail", result: "risky", score: 50, webmail: true });
  const trash = await site.get("email-verifier", "email=grace@trash.example");
  expect(trash.body.data).toMatchObject({
    status: "disposable",
    result: "risky",
    score: 50,
    disposable: true,
  });
  expect(modes).toEqual([false, true]);
  const { body } = await site.get("account");
  expect(body.data).toMatchObject({ requests: { verifications: { used: 0 } } });
});

test("a privacy alias is probed like any other address, and marked", async () => {
  const prober = createScriptedProber(async (_, smtp) => (smtp ? { mailbox: true, acceptsAll: false } : {}));
  const site = await createLookupSite({
    prober,
    lists: { ...LISTS, isAlias: (domain) => domain === "alias.example" },
  });
  const { body } = await site.get("email-verifier", "email=grace@alias.example");
  const expected = { status: "valid", result: "deliverable", score: 100, alias: true, disposable: false };
  expect(body.data).toMatchObject(expected);
  const other = await site.get("email-verifier", "email=grace@example.com");
  expect(other.body.data).toMatchObject({ status: "valid", alias: false });
});

test("a failing resolver does not make a webmail address undeliverable", async () => {
  const prober = createScriptedProber(async () => ({ routing: "none" }));
  const site = await createLookupSite({ prober, lists: LISTS });
  const { body } = await site.get("email-verifier", "email=grace@webmail.example");
  expect(body.data).toMatchObject({ status: "webmail", result: "risky", mx_records: false });
});

test("email-verifier suggests a domain that was probably meant", async () => {
  const site = await createLookupSite({ lists: LISTS });
  const { body } = await site.get("email-verifier", "email=grace@webmial.example");
  expect(body.data).toMatchObject({ suggestion: "grace@webmail.example" });
});

test("a syntactically invalid address gets a verdict without a probe", async () => {
  const prober = createScriptedProber(async () => ({}));
  const site = await createLookupSite({ prober });
  const { status, body } = await site.get("email-verifier", "email=grace..hopper@example.com");
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ status: "invalid", result: "undeliverable", regexp: false, score: 0 });
  expect(prober.asked).toEqual([]);
});

test("without a prober the verdict is unknown", async () => {
  const site = await createLookupSite({ known: [ADA] });
  const { body } = await site.get("email-verifier", "email=ada.lovelace@example.com");
  expect(body.data).toMatchObject({ status: "unknown", score: 90, reason: "not_probed", mx_records: false });
});

test("a slow verification is answered with 202, goes on, and is counted once", async () => {
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const prober = createScriptedProber(async () => {
    await finished;
    return { mailbox: true, acceptsAll: false };
  });
  const site = await createLookupSite({ prober });
  const ask = () => site.get("email-verifier", "email=grace@example.com&max_duration=3");
  const early = await ask();
  expect(early.status).toBe(202);
  expect(early.headers["Retry-After"]).toBe("2");
  expect(early.body).toMatchObject({
    data: { email: "grace@example.com" },
    meta: { params: { email: "grace@example.com" } },
  });
  finish();
  const late = await ask();
  expect(late.status).toBe(200);
  expect(late.body.data).toMatchObject({ status: "valid" });
  expect(prober.asked).toHaveLength(1);
  // A reservation that is not settled would have lapsed by then.
  site.clock.now += 11 * 60_000;
  await ask();
  const { body } = await site.get("account");
  expect(body.data).toMatchObject({ requests: { verifications: { used: 1 } } });
});

test.each([
  [{ mailbox: true, acceptsAll: false }, 1],
  [{ reason: "temporary" } as const, 0],
])(
  "a slow verification with the result %j is counted as %i, although no request follows",
  async (result, cost) => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const prober = createScriptedProber(async () => {
      await finished;
      return result;
    });
    const site = await createLookupSite({ prober });
    const used = async () => {
      const { body } = await site.get("account");
      return (body.data as { requests: { verifications: { used: number } } }).requests.verifications.used;
    };
    expect((await site.get("email-verifier", "email=grace@example.com&max_duration=3")).status).toBe(202);
    expect(await used()).toBe(1);
    finish();
    await expect.poll(used).toBe(cost);
    site.clock.now += 60 * 60_000;
    expect(await used()).toBe(cost);
  },
);

test("a verification in line is answered with 202 and the estimated wait, and its later request with the verdict", async () => {
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const accounts: (string | undefined)[] = [];
  const prober: MailProber = {
    async probe(_local, _domain, { account, onWait }) {
      accounts.push(account);
      onWait?.(() => 90_500);
      await finished;
      return { ...FOUND, mailbox: true, acceptsAll: false };
    },
    close: async () => undefined,
  };
  const site = await createLookupSite({ prober });
  const ask = () => site.get("email-verifier", "email=GRACE@example.com&max_duration=3");
  const early = await ask();
  expect([early.status, early.headers["Retry-After"]]).toEqual([202, "93"]);
  finish();
  expect((await ask()).body.data).toMatchObject({ status: "valid" });
  expect(accounts).toEqual([site.account]);
});

test("email-verifier works while its cache is unavailable", async () => {
  const trouble = new Error("away");
  const cache = {
    get: () => Promise.reject(trouble),
    set: () => Promise.reject(trouble),
    delete: () => Promise.reject(trouble),
  };
  const prober = createScriptedProber(async () => ({ mailbox: true, acceptsAll: false }));
  const site = await createLookupSite({ prober, cache });
  const { body } = await site.get("email-verifier", "email=grace@example.com");
  expect(body.data).toMatchObject({ status: "valid" });
  expect(site.errors).toEqual([trouble, trouble]);
});

test.each([
  ["", "wrong_params"],
  ["email=grace", "invalid_email"],
  ["email=grace%0d%0a@example.com", "invalid_email"],
  ["email=grace@example.com&max_duration=1", "invalid_max_duration"],
])("email-verifier rejects %s with %s", async (search, id) => {
  const site = await createLookupSite();
  const { status, body } = await site.get("email-verifier", search);
  expect({ status, errors: body.errors }).toEqual({
    status: 400,
    errors: [{ id, code: 400, details: expect.any(String) }],
  });
});
