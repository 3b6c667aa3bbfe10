import { createLookup } from "@outrigger/core";
import type { MailProber } from "@outrigger/core/lookup";
import { expect, test } from "vitest";
import {
  createSqlAccounts,
  createSqlContactSource,
  createSqlSuppressionList,
  putContacts,
  type SqlDatabase,
} from "../../packages/sql/src/index.ts";
import { onEachDatabase } from "../../packages/sql/test/each-database.ts";
import { ask } from "./ask.ts";
import { startLookupSite } from "./lookup-site.ts";
import { PEOPLE } from "./people.ts";

/** A mail server that accepts every name at first. */
const PROBER: MailProber = {
  probe: async () => ({
    ...{ routing: "found", server: true, mailbox: true, acceptsAll: false },
    ...{ reason: null, retryAfterMs: null },
  }),
  close: async () => undefined,
};
const ADA = "ada.lovelace@example.com";

onEachDatabase(({ createUrl, open }) => {
  test("reports over HTTP change the verdicts of their account only, in each process on the database", async () => {
    const url = await createUrl();
    const partsOf = (database: SqlDatabase) => ({
      contacts: createSqlContactSource(database),
      accounts: createSqlAccounts(database),
      suppressions: createSqlSuppressionList(database),
      prober: PROBER,
    });
    await putContacts(open(url), PEOPLE);
    const one = await startLookupSite(partsOf(open(url)));
    const another = createLookup({
      ...partsOf(open(url)),
      secret: "a secret of this test, of 32 bytes",
      now: () => one.clock.now,
    });
    const { key } = await one.lookup.createAccount({ id: "sender", reports: true });
    const report = (fields: object, used = key, headers: Record<string, string> = {}) =>
      ask(`${one.base}/v2/reports`, {
        method: "POST",
        headers: { "X-API-KEY": used, "Content-Type": "application/json", ...headers },
        body: JSON.stringify(fields),
      });
    const statusFor = async (used: string) => {
      const { body } = await ask(`${one.base}/v2/email-verifier?email=${ADA}&api_key=${used}`);
      return Object(body.data).status;
    };
    const bounce = { email: ADA, kind: "bounced", code: "5.1.1" };
    expect((await report(bounce, one.key)).status).toBe(403);
    expect((await report(bounce, "unknown")).status).toBe(401);
    expect((await report(bounce, key, { "Content-Type": "application/x-www-form-urlencoded" })).status).toBe(
      415,
    );
    expect((await report(bounce, key, { "Content-Type": "text/plain" })).status).toBe(415);
    expect((await report({ email: ADA, code: "5".repeat(20_000) })).status).toBe(413);
    expect(await statusFor(key)).toBe("valid");
    expect((await report(bounce)).body).toEqual({
      data: { email: ADA, verdict: "invalid" },
      meta: { params: bounce },
    });
    expect([await statusFor(key), await statusFor(one.key)]).toEqual(["invalid", "valid"]);
    const elsewhere = async (account: string) => (await another.verifyEmail(ADA, { account })).data.status;
    expect([await elsewhere("sender"), await elsewhere("me")]).toEqual(["invalid", "valid"]);
    await one.lookup.report(ADA, { kind: "bounced", code: "550 5.1.1 User unknown" });
    expect(await statusFor(one.key)).toBe("invalid");
    const { body } = await one.get("domain-search", "domain=example.com&limit=100");
    const found = Object(body.data).emails.find(({ value }: { value: string }) => value === ADA);
    expect([found.confidence, found.verification.status]).toEqual([0, "invalid"]);
    one.clock.now += 91 * 86_400_000;
    expect([await statusFor(key), await statusFor(one.key)]).toEqual(["valid", "valid"]);
    await one.lookup.report(ADA, { kind: "bounced", code: "5.1.1" });
    await one.lookup.suppress(ADA);
    expect((await report(bounce)).status).toBe(451);
    expect(await createSqlAccounts(open(url)).reportsOn?.(ADA, "sender", 0)).toEqual([]);
    expect(one.errors).toEqual([]);
    await another.close();
    await one.close();
  });
});
