import { createLookup } from "@outrigger/core";
import type { MailLists } from "@outrigger/core/lookup";
import { expect, onTestFinished, test } from "vitest";
import { onEachDatabase } from "../../test/each-database.ts";
import { importer } from "../../test/imported.ts";
import { fileOf, textOf } from "../../test/sample-files.ts";
import { createSqlAccounts } from "../accounts/sql-accounts.ts";
import { createSqlContactSource } from "../contacts/sql-contact-source.ts";
import type { SqlDatabase } from "../sql-database.ts";
import { createSqlSuppressionList } from "../sql-suppression-list.ts";
import { exportContacts } from "./export-contacts.ts";
import { importContacts } from "./import-contacts.ts";

const DOMAIN = "crm.example";
const PEOPLE =
  "Ann Lee,Bob Stone,Carl Woods,Dora Fields,Emma Rivers,Fred Hills,Gina Moor,Hugo Brook,Ida Marsh,Jon Cliff"
    .split(",")
    .map((name) => ({
      name,
      names: name.split(" "),
      email: `${name.toLowerCase().replace(" ", ".")}@${DOMAIN}`,
    }));
const ASKED = { domain: DOMAIN, firstName: "Zoe", lastName: "Byron" };
const LISTS: MailLists = {
  isWebmail: (domain) => domain === "webmail.example",
  isDisposable: (domain) => domain === "trash.example",
  isAlias: (domain) => domain === "alias.example",
  suggestDomain: () => null,
};
const PRIVATE = ["webmail.example", "trash.example", "alias.example"];

function vcard(version: string, { name, names, email }: (typeof PEOPLE)[number]): string {
  const [first, last] = names;
  return `BEGIN:VCARD\r\nVERSION:${version}\r\nN:${last};${first};;;\r\nFN:${name}\r\nEMAIL:${email}\r\nEND:VCARD\r\n`;
}

const FILES: Record<string, string> = {
  CSV: `Email,First Name,Last Name\n${PEOPLE.map(({ names, email }) => `${email},${names.join()}\n`).join("")}`,
  NDJSON: PEOPLE.map(({ name, email }) => `${JSON.stringify({ email, name })}\n`).join(""),
  ...Object.fromEntries(
    ["2.1", "3.0", "4.0"].map((version) => [
      `vCard ${version}`,
      PEOPLE.map((person) => vcard(version, person)).join(""),
    ]),
  ),
};

onEachDatabase((databases) => {
  const imported = importer(databases);
  const found = async (source: ReturnType<typeof createSqlContactSource>, email = PEOPLE[0]?.email) =>
    (await source.find(email ?? ""))?.confidence;

  function lookupOn(database: SqlDatabase) {
    const lookup = createLookup({
      contacts: createSqlContactSource(database),
      accounts: createSqlAccounts(database),
      suppressions: createSqlSuppressionList(database),
      secret: "s".repeat(32),
      lists: LISTS,
    });
    onTestFinished(() => lookup.close());
    return lookup;
  }

  test.each(Object.entries(FILES))(
    "people imported from %s without a page have confidence 70, and their pattern gives a guess of a stranger",
    async (_, text) => {
      const { database } = await imported(text, { format: undefined });
      const lookup = lookupOn(database);
      const { data } = await lookup.searchDomain({ domain: DOMAIN });
      expect(data.pattern).toBe("{first}.{last}");
      expect(data.emails.map(({ confidence }) => confidence)).toEqual(Array(10).fill(70));
      const guess = await lookup.findEmail(ASKED);
      expect(guess.data.email).toBe(`zoe.byron@${DOMAIN}`);
      expect(guess.data.score).toBeGreaterThanOrEqual(85);
      expect((await lookup.findEmail({ domain: DOMAIN, fullName: "Ann Lee" })).data.score).toBe(70);
    },
  );

  test.each([
    ["Verified", 95],
    ["VALID", 95],
    ["deliverable", 95],
    ["Guessed", 70],
    ["Unverified", 70],
    ["Catch-all", 70],
    ["Bounced", 0],
  ])(
    "the status %s in a file gives a contact without a page the confidence %i",
    async (status, confidence) => {
      const { source } = await imported(
        `Email,First Name,Last Name,Email Status\n${PEOPLE[0]?.email},Ann,Lee,${status}\n`,
      );
      expect(await found(source)).toBe(confidence);
    },
  );

  test("a later verdict changes the confidence that was not given, also after an export and an import", async () => {
    const { database } = await imported(FILES.CSV ?? "");
    const { source: copy } = await imported(await textOf(exportContacts(database, { format: "csv" })));
    const verdicts = [
      ["valid", 95],
      ["unknown", 70],
      ["invalid", 0],
      ["valid", 95],
    ] as const;
    for (const source of [createSqlContactSource(database), copy]) {
      expect(await found(source)).toBe(70);
      for (const [status, confidence] of verdicts) {
        await source.recordVerification?.(PEOPLE[0]?.email ?? "", { status, date: "2026-05-04" }, null);
        expect(await found(source)).toBe(confidence);
      }
    }
  });

  test("the company of a domain is the name that most of its contacts have, whatever their order", async () => {
    const names = ["Zeta Inc", "Acme Ltd", "ACME, Ltd.", "Acme Ltd", "Zeta Inc", "Beta"];
    const lines = names.map((name, index) => `p${index}@${DOMAIN},"${name}"\n`);
    for (const order of [lines, lines.toReversed()]) {
      const { database, source } = await imported(`Email,Company\n${order.join("")}`);
      expect((await source.domain(DOMAIN))?.organization).toBe("Acme Ltd");
      expect(await source.domainOf("Zeta Inc")).toBeNull();
      const header = "Email,Company\n";
      await importContacts(database, fileOf(`${header}p1@${DOMAIN},Zeta Inc\n`), {});
      expect((await source.domain(DOMAIN))?.organization).toBe("Zeta Inc");
      await importContacts(database, fileOf(`{"domain":"${DOMAIN}","organization":"Owner AG"}\n`), {});
      await importContacts(database, fileOf(`${header}p2@${DOMAIN},Zeta Inc\n`), {});
      expect((await source.domain(DOMAIN))?.organization).toBe("Owner AG");
    }
  });

  test("a private domain has neither company nor pattern, and its people are still found", async () => {
    const lines = ["acme.example", ...PRIVATE].flatMap((domain) =>
      PEOPLE.map(({ names }) => `${names.join(".").toLowerCase()}@${domain},${names.join()},Acme Ltd\n`),
    );
    const text = `Email,First Name,Last Name,Company\n${lines.join("")}${PRIVATE.map((each) => `more@${each},,,Acme Ltd\n`).join("")}`;
    for (const options of [{}, { lists: LISTS }]) {
      const { database } = await imported(text, options);
      const lookup = lookupOn(database);
      expect((await lookup.searchDomain({ company: "Acme Ltd" })).data).toMatchObject({
        ...{ domain: "acme.example", organization: "Acme Ltd", linked_domains: [] },
      });
      for (const domain of PRIVATE) {
        const { data } = await lookup.searchDomain({ domain });
        expect(data).toMatchObject({ domain, pattern: null, organization: null, linked_domains: [] });
        expect(data.emails.length).toBe(10);
        const known = await lookup.findEmail({ domain, fullName: "Ann Lee" });
        expect(known.data).toMatchObject({ email: `ann.lee@${domain}`, company: null });
        expect((await lookup.findEmail({ ...ASKED, domain })).data).toMatchObject({ email: null, score: 0 });
      }
      await lookup.erase("acme.example");
      expect((await lookup.searchDomain({ company: "Acme Ltd" })).data).toMatchObject({ domain: null });
      const stored = await textOf(exportContacts(database, { format: "ndjson" }));
      expect(stored.includes("Acme Ltd")).toBe(!("lists" in options));
    }
  });
});
