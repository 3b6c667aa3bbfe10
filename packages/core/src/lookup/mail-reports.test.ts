import { expect, test } from "vitest";
import { contactOf, createLookupSite, LISTS } from "../../test/lookup-site.ts";
import { ADA, BOUNCE, createReportSite, DELIVERY } from "../../test/report-site.ts";
import { createMemoryAccounts } from "./memory/memory-accounts.ts";
import { createMemorySuppressionList } from "./memory/memory-suppression-list.ts";

const DAY_MS = 86_400_000;
const GONE = { server: true, mailbox: false, reason: "user_unknown" } as const;

test("a bounce changes the verdicts of its account only, in single verifications and in lists", async () => {
  const { lookup, account, other, statusOf, contacts } = await createReportSite();
  const { data } = await lookup.report(ADA, { ...BOUNCE, account });
  expect(data).toEqual({ email: ADA, verdict: "invalid" });
  expect(await statusOf(account)).toBe("invalid");
  expect(await statusOf(other)).toBe("valid");
  expect(await statusOf()).toBe("valid");
  const listed = async (of: string) => {
    const { id } = await lookup.verifyEmails([ADA], { account: of });
    await expect.poll(async () => (await lookup.verificationList(id)).data.status).toBe("done");
    return (await lookup.verificationList(id)).data.results.map(({ status }) => status);
  };
  expect(await listed(account)).toEqual(["invalid"]);
  expect(await listed(other)).toEqual(["valid"]);
  expect((await contacts.find(ADA))?.verification).toEqual({ status: "valid", date: "2026-03-01" });
});

test("the operator's bounce changes the verdicts of all accounts, and the confidence of the contact", async () => {
  const { lookup, account, statusOf, get, prober } = await createReportSite();
  await lookup.report(`Ada <${ADA}>`, BOUNCE);
  expect(await statusOf(account)).toBe("invalid");
  expect(await statusOf()).toBe("invalid");
  expect(prober.asked).toEqual([]);
  const shown = async () => {
    const { body } = await get("domain-search", "domain=example.com");
    const [email] = Object(body.data).emails;
    return [email.confidence, email.verification.status];
  };
  expect(await shown()).toEqual([0, "invalid"]);
  await lookup.report(ADA, DELIVERY);
  expect(await shown()).toEqual([80, "valid"]);
});

test("the latest report decides, from any of the two, and the operator's own verdict stays", async () => {
  const { lookup, account, other, statusOf, clock, contacts } = await createReportSite();
  const steps = [
    [{ ...BOUNCE }, "invalid", "invalid"],
    [{ ...DELIVERY, account }, "valid", "invalid"],
    [{ ...BOUNCE, account }, "invalid", "invalid"],
    [{ ...DELIVERY }, "valid", "valid"],
    [{ ...DELIVERY, account }, "valid", "valid"],
  ] as const;
  for (const [report, own, others] of steps) {
    clock.now += 1000;
    await lookup.report(ADA, report);
    expect([await statusOf(account), await statusOf(other)], JSON.stringify(report)).toEqual([own, others]);
    expect((await contacts.find(ADA))?.verification?.status, JSON.stringify(report)).toBe(others);
  }
});

test("a report expires after 90 days, and the same report again renews it", async () => {
  const { lookup, account, statusOf, clock } = await createReportSite();
  await lookup.report(ADA, { ...BOUNCE, account });
  clock.now += 90 * DAY_MS;
  expect(await statusOf(account)).toBe("invalid");
  await lookup.report(ADA, { ...BOUNCE, account });
  clock.now += 90 * DAY_MS;
  expect(await statusOf(account)).toBe("invalid");
  clock.now += 1;
  expect(await statusOf(account)).toBe("valid");
});

test("the operator's bounce of a contact ends after 90 days, unless a server has refused it since", async () => {
  const accounts = createMemoryAccounts();
  const known = ["ada", "bob", "cy"].map((local) => contactOf(`${local}@example.com`));
  const { lookup, contacts, clock } = await createReportSite({ accounts, known });
  for (const { address } of known) await lookup.report(address, BOUNCE);
  clock.now += 90 * DAY_MS + 1;
  await lookup.report("cy@example.com", BOUNCE);
  clock.now += DAY_MS;
  const refused = { status: "invalid", date: "2026-05-31" } as const;
  await contacts.recordVerification?.("bob@example.com", refused, null);
  const later = await createLookupSite({ accounts, contacts, now: () => clock.now });
  const shown = async () => {
    const { contacts: found } = await contacts.search("example.com", {}, { limit: 10, offset: 0 });
    return found.map(({ address, confidence, verification }) => [address, confidence, verification?.status]);
  };
  await expect.poll(shown).toEqual([
    ["ada@example.com", 80, "unknown"],
    ["bob@example.com", 0, "invalid"],
    ["cy@example.com", 0, "invalid"],
  ]);
  const reported = await Promise.all(known.map(({ address }) => accounts.reportsOn?.(address, null, 0)));
  expect(reported.map((each) => each?.length)).toEqual([0, 0, 1]);
  expect(later.errors).toEqual([]);
});

test("a report that is made during a probe counts for it", async () => {
  const { lookup, account, prober, statusOf, contacts } = await createReportSite();
  const probe = prober.probe.bind(prober);
  prober.probe = async (...asked) => {
    await lookup.report(ADA, BOUNCE);
    return probe(...asked);
  };
  expect(await statusOf(account)).toBe("invalid");
  expect((await contacts.find(ADA))?.verification?.status).toBe("invalid");
});

test("an account's bounce at a listed domain changes no verdict of the others", async () => {
  const isOnList = (domain: string) => domain === "trash.example" || domain === "example.com";
  const lists = { ...LISTS, isDisposable: isOnList, isSurelyDisposable: () => false };
  const { lookup, account, answer, statusOf, contacts } = await createReportSite({ lists });
  answer.now = { server: true, mailbox: true, acceptsAll: false, isBusinessMail: true };
  expect(await statusOf()).toBe("valid");
  await lookup.report(ADA, { ...BOUNCE, account });
  expect(await statusOf(account)).toBe("invalid");
  expect((await contacts.find(ADA))?.verification?.status).toBe("valid");
  await lookup.report(ADA, BOUNCE);
  expect((await contacts.find(ADA))?.verification?.status).toBe("invalid");
});

test("only codes that speak of the mailbox make an address invalid", async () => {
  const { lookup, account, statusOf } = await createReportSite();
  const verdictAfter = async (code?: string) =>
    (await lookup.report(ADA, { kind: "bounced", code, account })).data.verdict;
  for (const code of [
    ...[undefined, "", "4.1.1", "4.2.2", "5.0.0", "5.1.0", "5.1.2", "5.1.3", "5.1.11", "5.1.100", "5.2.1"],
    ...["5.2.2", "5.4.1", "5.7.1", "5.7.26", "2.1.1", "450 5.1.1 Unknown", "550 User unknown", "550"],
    ...["550 5.7.1 See 5.1.1", "smtp; 554 5.7.1 5.1.1", "554 no"],
  ]) {
    expect(await verdictAfter(code), code).toBeNull();
  }
  expect(await statusOf(account)).toBe("valid");
  for (const code of [
    ...["5.1.1", "5.1.6", "5.1.10", " 5.1.1 ", "#5.1.1", "550 5.1.1 <x>: User unknown", "550-5.1.1 The"],
    ...["smtp; 550 5.1.10 RESOLVER.ADR.RecipientNotFound", "SMTP;550 #5.1.1 user", "5.1.1 (bad address)"],
  ]) {
    expect(await verdictAfter(code), code).toBe("invalid");
    expect(await statusOf(account), code).toBe("invalid");
    await lookup.report(ADA, { ...DELIVERY, account });
    expect(await statusOf(account), code).toBe("valid");
  }
});

test("complaints and other bounces change nothing, also not an earlier report", async () => {
  const { lookup, account, statusOf } = await createReportSite();
  await lookup.report(ADA, { ...BOUNCE, account });
  expect((await lookup.report(ADA, { kind: "complained", account })).data.verdict).toBeNull();
  expect((await lookup.report(ADA, { kind: "complained", code: "5.1.1", account })).data.verdict).toBeNull();
  await lookup.report(ADA, { kind: "bounced", code: "5.2.2", account });
  expect(await statusOf(account)).toBe("invalid");
  expect((await lookup.searchDomain({ domain: "example.com" })).meta.results).toBe(1);
});

test("a delivery proves a mailbox, but not at a domain that accepts any name, and not after a later refusal", async () => {
  const { lookup, answer, statusOf, clock } = await createReportSite();
  const verdictOf = async (email: string) => {
    const { data } = await lookup.verifyEmail(email);
    return [data.status, data.score, "reason" in data && data.reason];
  };
  for (const email of ["any@all.example", "grey@grey.example", "gone@gone.example"]) {
    await lookup.report(email, DELIVERY);
  }
  answer.now = { server: true, mailbox: null, acceptsAll: true, reason: "accepts_all" };
  expect(await verdictOf("any@all.example")).toEqual(["accept_all", 50, "accepts_all"]);
  answer.now = { server: true, mailbox: null, reason: "greylisted", retryAfterMs: 60_000 };
  expect(await verdictOf("grey@grey.example")).toEqual(["valid", 80, null]);
  // A refusal may be cached for three days.
  answer.now = GONE;
  expect(await verdictOf("gone@gone.example")).toEqual(["valid", 80, null]);
  clock.now += 3 * DAY_MS + 1;
  expect(await statusOf(undefined, "gone@gone.example")).toBe("invalid");
});

test("a delivery does not overrule a domain without mail servers, and a bounce one of webmail", async () => {
  const { lookup, answer, statusOf } = await createReportSite();
  await lookup.report("ann@nowhere.example", DELIVERY);
  answer.now = { routing: "null_mx" };
  expect(await statusOf(undefined, "ann@nowhere.example")).toBe("invalid");
  answer.now = {};
  await lookup.report("ann@webmail.example", DELIVERY);
  expect(await statusOf(undefined, "ann@webmail.example")).toBe("webmail");
  await lookup.report("ann@webmail.example", BOUNCE);
  expect(await statusOf(undefined, "ann@webmail.example")).toBe("invalid");
});

test("the finder does not guess an address that bounced", async () => {
  const people = ["ann.best", "cy.dale", "eve.ford"].map((local) => {
    const [firstName = "", lastName = ""] = local.split(".");
    return contactOf(`${local}@example.com`, { firstName, lastName });
  });
  const { lookup, account } = await createReportSite({ known: people });
  const found = async () => {
    const { data } = await lookup.findEmail({ domain: "example.com", fullName: "Gus Hall" }, { account });
    return data.email;
  };
  await lookup.report("gus.hall@example.com", { ...BOUNCE, account });
  expect(await found()).not.toBe("gus.hall@example.com");
  await lookup.report("gus.hall@example.com", { ...DELIVERY, account });
  expect(await found()).toBe("gus.hall@example.com");
});

test("the finder does not return a known contact to the account that reported its bounce", async () => {
  const known = [contactOf(ADA, { firstName: "Ada", lastName: "Best" })];
  const { lookup, account, other } = await createReportSite({ known });
  const found = async (of?: string) => {
    const sought = { domain: "example.com", fullName: "Ada Best" };
    return (await lookup.findEmail(sought, { account: of })).data.email;
  };
  expect(await found(account)).toBe(ADA);
  await lookup.report(ADA, { ...BOUNCE, account });
  expect(await found(account)).not.toBe(ADA);
  expect([await found(other), await found()]).toEqual([ADA, ADA]);
});

test("a report on a suppressed person is refused as their verification is, and nothing is stored", async () => {
  const accounts = createMemoryAccounts();
  const { lookup, report, get } = await createReportSite({ accounts });
  await lookup.report(ADA, BOUNCE);
  await lookup.report("ada+news@example.com", { ...BOUNCE, account: "reporting" });
  await lookup.suppress(ADA);
  expect(await accounts.reportsOn?.(ADA, "reporting", 0)).toEqual([]);
  expect(await accounts.reportsOn?.("ada+news@example.com", "reporting", 0)).toEqual([]);
  const asked = await get("email-verifier", `email=${ADA}`);
  for (const email of [ADA, "ada+news@example.com"]) {
    for (const kind of ["bounced", "delivered", "complained"]) {
      const reply = await report({ email, kind, code: "5.1.1" });
      expect([reply.status, reply.body], kind).toEqual([asked.status, asked.body]);
      expect(await accounts.reportsOn?.(email, "reporting", 0)).toEqual([]);
    }
  }
  await lookup.suppress("secret.example");
  const domain = await report({ email: "x@sub.secret.example", ...BOUNCE });
  expect(domain.status).toBe(400);
  expect(domain.body).toEqual((await get("email-verifier", "email=x@sub.secret.example")).body);
});

test("a suppression during the report erases it", async () => {
  const list = createMemorySuppressionList();
  const accounts = createMemoryAccounts();
  const store = accounts.report?.bind(accounts);
  const site = await createReportSite({ accounts, suppressions: list });
  accounts.report = async (report) => {
    await site.lookup.suppress(ADA);
    await store?.(report);
  };
  await expect(site.lookup.report(ADA, BOUNCE)).rejects.toMatchObject({ id: "claimed_email" });
  expect(await accounts.reportsOn?.(ADA, null, 0)).toEqual([]);
});

test("erasing an address or a domain erases its reports", async () => {
  const accounts = createMemoryAccounts();
  const { lookup, statusOf } = await createReportSite({ accounts });
  await lookup.report("ann+x@dead.example", BOUNCE);
  expect(await lookup.erase("ann@dead.example")).toBe(true);
  expect(await statusOf(undefined, "ann+x@dead.example")).toBe("valid");
  await lookup.report("bob@sub.dead.example", BOUNCE);
  expect(await lookup.erase("dead.example")).toBe(true);
  expect(await lookup.erase("dead.example")).toBe(false);
  expect(await statusOf(undefined, "bob@sub.dead.example")).toBe("valid");
});

test("accounts of a host without reports accept none, and verify as before", async () => {
  const accounts = Object.assign(createMemoryAccounts(), {
    ...{ report: undefined, reportsOn: undefined, eraseReports: undefined },
  });
  const site = await createReportSite({ accounts: accounts as never });
  expect(await site.statusOf()).toBe("valid");
  expect(await site.lookup.erase(ADA)).toBe(true);
  await expect(site.lookup.report(ADA, BOUNCE)).rejects.toMatchObject({ code: "host_misuse" });
});
