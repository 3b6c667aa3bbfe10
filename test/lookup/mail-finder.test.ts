import { describe, expect, test } from "vitest";
import type { MailServer } from "../support/mail-server.ts";
import { type Answer, refusalOf } from "./ask.ts";
import { type MailSite, type MailWorld, mailSitesForEach } from "./mail-site.ts";

let world: MailWorld;
let mail: MailServer;
const start = mailSitesForEach((made) => {
  ({ world, mail } = made);
});

const find = (site: MailSite, domain: string, fullName: string): Promise<Answer> =>
  site.get("email-finder", `domain=${domain}&full_name=${encodeURIComponent(fullName)}`);
/** Asserts that no server received a request, not even a name server. */
function expectSilence(): void {
  expect(mail.commands).toEqual([]);
  expect(mail.mostSessions()).toBe(0);
  expect(world.dns.questions).toEqual([]);
}

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
