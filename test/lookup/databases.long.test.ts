import { expect, test } from "vitest";
import {
  createSqlAccounts,
  createSqlContactSource,
  createSqlSuppressionList,
  putContacts,
} from "../../packages/sql/src/index.ts";
import { onEachDatabase } from "../../packages/sql/test/each-database.ts";
import { refusalOf } from "./ask.ts";
import { requireDocumented } from "./documented-answer.ts";
import { type LookupSite, startLookupSite, type TestLookupOptions } from "./lookup-site.ts";
import { ODD_VALUES } from "./odd-values.ts";
import { crowdOf, PEOPLE } from "./people.ts";

onEachDatabase(({ createUrl, open }) => {
  async function withSite(body: (site: LookupSite) => Promise<void>, options: TestLookupOptions = {}) {
    const database = open(await createUrl());
    await putContacts(database, [...PEOPLE, ...crowdOf("crowd.example", 25)], {
      organizations: { "example.com": "Example Works" },
    });
    const site = await startLookupSite({
      contacts: createSqlContactSource(database),
      accounts: createSqlAccounts(database),
      suppressions: createSqlSuppressionList(database),
      networkNames: { a: "linkedin", b: "twitter" },
      plans: { free: { searches: false, verifications: false } },
      ...options,
    });
    try {
      await body(site);
      expect(site.errors).toEqual([]);
    } finally {
      await site.close();
    }
  }

  test("any text that a parameter accepts is answered without an error", async () => {
    await withSite(async (site) => {
      for (const value of Object.values(ODD_VALUES)) {
        for (const [operation, search] of [
          ["domain-search", `company=${value}`],
          ["domain-search", `domain=example.com&offset=${value}`],
          ["email-count", `company=Example${value}`],
          ["email-finder", `domain=example.com&first_name=${value}&last_name=Lovelace`],
          ["email-finder", `company=Example${value}&full_name=Ada%20${value}`],
          ["email-verifier", `email=${value}@example.com`],
          ["account", `x=${value}`],
        ] as const) {
          const answer = await site.get(operation, search);
          requireDocumented(operation, answer, `${operation}?${search}`.slice(0, 200));
        }
      }
    });
  });
  test("concurrent requests spend exactly the remaining allowance", async () => {
    await withSite(
      async (site) => {
        const answers = await Promise.all(
          Array.from({ length: 60 }, (_, offset) =>
            site.get("domain-search", `domain=crowd.example&limit=1&offset=${offset % 25}&department=it`),
          ),
        );
        const refused = answers.filter(({ status }) => status !== 200);
        // 25 different requests, ten of which the allowance covers; a repetition of one of those is free.
        expect(new Set(refused.map((answer) => String(refusalOf(answer))))).toEqual(
          new Set(["429,too_many_requests"]),
        );
        const { body } = await site.get("account");
        expect(body.data).toMatchObject({ requests: { searches: { used: 10, available: 10 } } });
      },
      { plans: { free: { searches: 10, verifications: 10 } } },
    );
  });
  test("an account known only to the host is counted", async () => {
    const account = {
      id: "host-42",
      email: null,
      firstName: null,
      lastName: null,
      plan: "free",
      createdAt: 0,
    };
    await withSite(
      async (site) => {
        expect((await site.get("domain-search", "domain=example.com")).status).toBe(200);
        expect((await site.get("domain-search", "domain=example.com")).status).toBe(200);
        const { body } = await site.get("account");
        expect(body.data).toMatchObject({
          requests: { searches: { used: 1, available: 1 } },
        });
        expect((await site.get("domain-search", "domain=crowd.example")).status).toBe(429);
      },
      { authenticate: () => account, plans: { free: { searches: 1, verifications: 1 } } },
    );
  });

  test("a suppressed person stays suppressed in another instance and after an import", async () => {
    const url = await createUrl();
    for (const isFirst of [true, false]) {
      const database = open(url);
      await putContacts(database, PEOPLE);
      const site = await startLookupSite({
        contacts: createSqlContactSource(database),
        suppressions: createSqlSuppressionList(database),
      });
      if (isFirst) await site.lookup.suppress("ada.lovelace@example.com");
      expect(refusalOf(await site.get("email-verifier", "email=Ada.Lovelace@example.com"))).toEqual([
        451,
        "claimed_email",
      ]);
      const { body } = await site.get("domain-search", "domain=example.com");
      expect(JSON.stringify(body)).not.toContain("ada.lovelace");
      expect(body.meta).toMatchObject({ results: 2 });
      await site.close();
    }
  });
});
