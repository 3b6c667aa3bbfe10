import { createMailProber } from "@outrigger/verifier";
import { describe, expect, test } from "vitest";
import type { MailServer } from "../support/mail-server.ts";
import { type Answer, refusalOf } from "./ask.ts";
import { startLookupSite } from "./lookup-site.ts";
import { type MailSite, type MailWorld, mailSitesForEach } from "./mail-site.ts";
import { personOf } from "./people.ts";

let world: MailWorld;
let mail: MailServer;
const start = mailSitesForEach((made) => {
  ({ world, mail } = made);
});

const find = (site: MailSite, domain: string, fullName: string): Promise<Answer> =>
  site.get("email-finder", `domain=${domain}&full_name=${encodeURIComponent(fullName)}`);
const recipients = () => mail.commands.filter((line) => line.startsWith("RCPT"));
/** Asserts that no server received a request, not even a name server. */
function expectSilence(): void {
  expect(mail.commands).toEqual([]);
  expect(mail.mostSessions()).toBe(0);
  expect(world.dns.questions).toEqual([]);
}

describe("the finder with a mail prober", () => {
  test("at a domain without known people, the finder returns an address that the server confirms", async () => {
    const site = await start();
    const { body } = await find(site, "people.test", "Alice Springs");
    expect(body.data).toMatchObject({
      first_name: "Alice",
      last_name: "Springs",
      email: "alice@people.test",
      score: 97,
      accept_all: false,
      sources: [],
    });
    // Each denied recipient has a control. A server that denies one and knows postmaster is not a catch-all: no
    // made-up recipient is needed.
    expect(recipients()).toEqual([
      "RCPT TO:<alice.springs@people.test>",
      "RCPT TO:<postmaster@people.test>",
      "RCPT TO:<asprings@people.test>",
      "RCPT TO:<postmaster@people.test>",
      "RCPT TO:<alice@people.test>",
    ]);
    expect(await site.used()).toEqual({ searches: 1, verifications: 0 });
  });
  test("a catch-all server does not count as a confirmation", async () => {
    const known = personOf("mona.lisa@catchall.test", { firstName: "Mona", lastName: "Lisa" });
    const site = await start({ known: [known] });
    const { data } = (await find(site, "catchall.test", "Ada Byron")).body;
    expect(data).toMatchObject({ email: "ada.byron@catchall.test", accept_all: true });
    expect(data?.score).toBeLessThan(96);
    const blank = await start();
    expect((await find(blank, "catchall.test", "Ada Byron")).body.data).toMatchObject({ email: null });
  });
  test("the finder sends no request for a known person", async () => {
    const site = await start({
      known: [personOf("mona@people.test", { firstName: "Mona", lastName: "Lisa", confidence: 71 })],
    });
    expect((await find(site, "people.test", "Mona Lisa")).body.data).toMatchObject({
      email: "mona@people.test",
      score: 71,
    });
    expectSilence();
  });
});

describe("suppressed people", () => {
  test("a suppressed person is refused before any request is sent", async () => {
    const site = await start();
    await site.lookup.suppress("alice@people.test");
    await site.lookup.suppress("left.test");
    for (const email of ["alice@people.test", "ALICE@People.Test"]) {
      const refused = await site.verify(email);
      expect([email, ...refusalOf(refused)]).toEqual([email, 451, "claimed_email"]);
    }
    expect(refusalOf(await site.verify("anybody@left.test"))).toEqual([400, "invalid_domain"]);
    expect(refusalOf(await find(site, "left.test", "Ada Byron"))).toEqual([400, "invalid_domain"]);
    await site.lookup.suppress("ada.byron@people.test");
    expect(refusalOf(await find(site, "people.test", "Ada Byron"))).toEqual([451, "claimed_email"]);
    for (const operation of ["domain-search", "email-count"]) {
      expect(refusalOf(await site.get(operation, "domain=left.test"))).toEqual([400, "invalid_domain"]);
    }
    expectSilence();
    expect(await site.used()).toEqual({ searches: 0, verifications: 0 });
  });
});

describe("probing only as configured", () => {
  test("without smtp, the prober queries only the DNS", async () => {
    const site = await startLookupSite({
      prober: createMailProber({ dnsServers: [world.dns.address] }),
    });
    try {
      const { body } = await site.get("email-verifier", "email=alice@people.test");
      expect(body.data).toMatchObject({
        ...{ status: "unknown", reason: "forbidden_address", mx_records: true, smtp_server: false },
      });
      expect(mail.commands).toEqual([]);
      expect(world.dns.questions).toContain("MX people.test");
      const none = await site.get("email-verifier", "email=alice@null.test");
      expect(none.body.data).toMatchObject({ status: "invalid", reason: "null_mx" });
    } finally {
      await site.close();
    }
  });
});
