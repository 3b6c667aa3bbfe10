import { describe, expect, test } from "vitest";
import type { MailServer } from "../support/mail-server.ts";
import { refusalOf } from "./ask.ts";
import { type MailWorld, mailSitesForEach } from "./mail-site.ts";

let world: MailWorld;
let mail: MailServer;
const start = mailSitesForEach((made) => {
  ({ world, mail } = made);
});

const recipients = () => mail.commands.filter((line) => line.startsWith("RCPT"));

describe("verdicts from mail servers' replies", () => {
  test.each([
    ["alice@people.test", "valid", "deliverable", 100, null, 1],
    ["alice@PEOPLE.test", "valid", "deliverable", 100, null, 1],
    ["δοκιμή@people.test", "valid", "deliverable", 100, null, 1],
    ["alice@bücher.test", "valid", "deliverable", 100, null, 1],
    ["missing@people.test", "invalid", "undeliverable", 0, "user_unknown", 1],
    ["disabled@people.test", "invalid", "undeliverable", 0, "mailbox_disabled", 1],
    ["anybody@catchall.test", "accept_all", "risky", 50, "accepts_all", 1],
    ["alice@null.test", "invalid", "undeliverable", 0, "null_mx", 1],
    ["alice@nothing.test", "invalid", "undeliverable", 0, "no_mail_server", 1],
    ["alice@absent.test", "invalid", "undeliverable", 0, "no_mail_server", 1],
    ["a..b@people.test", "invalid", "undeliverable", 0, expect.any(String), 0],
    ["alice@webmail.test", "webmail", "risky", 50, "not_probed", 0],
    ["alice@trash.test", "disposable", "risky", 50, null, 0],
    ["full@people.test", "unknown", "risky", 30, "mailbox_full", 0],
    ["policy@people.test", "unknown", "risky", 30, "policy", 0],
    ["grey@people.test", "unknown", "risky", 30, "greylisted", 0],
    ["shutdown@people.test", "unknown", "risky", 30, "temporary", 0],
    ["drop@people.test", "unknown", "risky", 30, "temporary", 0],
    ["alice@servfail.test", "unknown", "risky", 30, "dns_failure", 0],
    ["alice@hidden.test", "unknown", "risky", 30, "forbidden_address", 0],
  ])("%s gets the verdict %s", async (email, status, result, score, reason, cost) => {
    const site = await start();
    const answer = await site.verify(email);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({ email, status, result, score, reason });
    expect(await site.used()).toMatchObject({ verifications: cost });
  });

  test("the check fields match the verdict", async () => {
    const site = await start();
    const checks = async (email: string) => {
      const { data } = (await site.verify(email)).body;
      return [data?.mx_records, data?.smtp_server, data?.smtp_check, data?.accept_all, data?.block];
    };
    expect(await checks("alice@people.test")).toEqual([true, true, true, false, false]);
    expect(await checks("missing@people.test")).toEqual([true, true, false, false, false]);
    expect(await checks("x@catchall.test")).toEqual([true, true, expect.any(Boolean), true, false]);
    expect(await checks("policy@people.test")).toEqual([true, true, false, false, true]);
    expect(await checks("alice@null.test")).toEqual([false, false, false, false, false]);
    expect(await checks("alice@webmail.test")).toEqual([true, false, false, false, false]);
  });

  test("webmail hosts are never probed, and each address is probed once", async () => {
    const site = await start();
    await site.verify("alice@webmail.test");
    expect(mail.commands).toEqual([]);
    await Promise.all(Array.from({ length: 20 }, () => site.verify("bob@people.test")));
    await site.verify("bob@PEOPLE.test");
    expect(recipients().filter((line) => line.includes("bob@people.test"))).toHaveLength(1);
    expect(await site.used()).toMatchObject({ verifications: 1 });
  });

  test("the spelling used in an earlier request makes no difference", async () => {
    const site = await start();
    // This server is case-sensitive, as RFC 5321 allows.
    await site.verify("ALICE@people.test");
    expect(await site.verdict("alice@people.test")).toMatchObject({ status: "valid" });
  });

  test("at a catch-all domain, only the first address is probed", async () => {
    const site = await start();
    for (const local of ["a", "b", "c"]) {
      expect(await site.verdict(`${local}@catchall.test`)).toMatchObject({ status: "accept_all" });
    }
    expect(recipients()).toHaveLength(2);
  });

  test("the prober uses TLS with a server that requires it", async () => {
    const secure = await world.mailServer({ host: "127.0.0.2", tls: "works" });
    world.route("secure.test", secure.host);
    const site = await start();
    expect(await site.verdict("alice@secure.test")).toMatchObject({ status: "valid" });
    expect(secure.commands).toContain("STARTTLS");
  });

  test("a suppressed person is refused before any request is sent", async () => {
    const site = await start();
    const find = (domain: string) => site.get("email-finder", `domain=${domain}&full_name=Ada%20Byron`);
    await site.lookup.suppress("alice@people.test");
    await site.lookup.suppress("left.test");
    for (const email of ["alice@people.test", "ALICE@People.Test"]) {
      const refused = await site.verify(email);
      expect([email, ...refusalOf(refused)]).toEqual([email, 451, "claimed_email"]);
    }
    expect(refusalOf(await site.verify("anybody@left.test"))).toEqual([400, "invalid_domain"]);
    expect(refusalOf(await find("left.test"))).toEqual([400, "invalid_domain"]);
    await site.lookup.suppress("ada.byron@people.test");
    expect(refusalOf(await find("people.test"))).toEqual([451, "claimed_email"]);
    for (const operation of ["domain-search", "email-count"]) {
      expect(refusalOf(await site.get(operation, "domain=left.test"))).toEqual([400, "invalid_domain"]);
    }
    // Not even a name server.
    expect([mail.commands, mail.mostSessions(), world.dns.questions]).toEqual([[], 0, []]);
    expect(await site.used()).toEqual({ searches: 0, verifications: 0 });
  });
});
