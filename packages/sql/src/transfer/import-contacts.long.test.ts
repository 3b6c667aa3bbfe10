import { createReadStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Contact } from "@outrigger/core/lookup";
import { expect, test } from "vitest";
import { onEachDatabase } from "../../test/each-database.ts";
import { importer } from "../../test/imported.ts";
import { domainOf, fileOf, HEADER, personFile, personLine, textOf } from "../../test/sample-files.ts";
import { confidenceOf } from "../contacts/merge-contact.ts";
import { createSqlContactSource } from "../contacts/sql-contact-source.ts";
import { exportContacts } from "./export-contacts.ts";
import { type ImportProgress, importContacts } from "./import-contacts.ts";

onEachDatabase(({ createUrl, open }) => {
  const imported = importer({ createUrl, open });

  test("an import reads all fields of CSV by the names of its columns", async () => {
    const { source, bad, progress } = await imported(
      [
        "\uFEFFE-Mail Address;".replace(
          "E-Mail Address;",
          "Email,Type,Confidence,First Name,Last Name,Position,Seniority,Department",
        ) +
          ",network_a,network_a_url,network_b,Phone,Company,uri,source domain,extracted_on,last_seen_on,still_on_page,ignored",
        'ZOE@Bücher.Example,generic,87,Zoë,"O\'Neil, ""Z""",Teller,SENIOR,it,zoe,https://network.example/zoe,@zoe,+41 44,Bücher AG,https://www.example.org/team,example.org,2025-01-02,2026-03-04T10:00:00Z,no,x',
      ].join("\r\n"),
    );
    expect(bad).toEqual([]);
    expect(progress).toMatchObject({ lines: 1, added: 1, bad: 0 });
    expect(await source.find("zoe@xn--bcher-kva.example")).toEqual({
      address: "zoe@xn--bcher-kva.example",
      type: "generic",
      confidence: 87,
      firstName: "Zoë",
      lastName: 'O\'Neil, "Z"',
      position: "Teller",
      seniority: "senior",
      department: "it",
      networkA: "zoe",
      networkAUrl: "https://network.example/zoe",
      networkB: "@zoe",
      phoneNumber: "+41 44",
      evidence: [
        {
          domain: "example.org",
          uri: "https://www.example.org/team",
          extractedOn: "2025-01-02",
          lastSeenOn: "2026-03-04",
          stillOnPage: false,
        },
      ],
    } satisfies Contact);
    expect(await source.domain("xn--bcher-kva.example")).toMatchObject({ organization: "Bücher AG" });
    expect(await source.domainOf("bücher ag")).toBe("xn--bcher-kva.example");
  });

  test("an import reads NDJSON with several pages of an address", async () => {
    const page = { uri: "https://a.example/1", extracted_on: "2025-01-01", last_seen_on: "2026-01-01" };
    const { source, bad } = await imported(
      [
        {
          email: "ann@a.example",
          firstName: "Ann",
          last_name: "Lee",
          sources: [page, { ...page, uri: "https://b.example/2", still_on_page: false }],
        },
        { email: "sales@a.example", confidence: 12, organization: "A", first_name: null, tags: ["x"] },
        { domain: "b.example", organization: "B" },
      ]
        .map((each) => JSON.stringify(each))
        .join("\n"),
      { format: "ndjson" },
    );
    expect(bad).toEqual([]);
    const ann = await source.find("ann@a.example");
    expect(ann).toMatchObject({ type: "personal", firstName: "Ann", lastName: "Lee" });
    expect(ann?.evidence).toEqual([
      {
        domain: "a.example",
        uri: "https://a.example/1",
        extractedOn: "2025-01-01",
        lastSeenOn: "2026-01-01",
        stillOnPage: true,
      },
      {
        domain: "b.example",
        uri: "https://b.example/2",
        extractedOn: "2025-01-01",
        lastSeenOn: "2026-01-01",
        stillOnPage: false,
      },
    ]);
    expect(await source.find("sales@a.example")).toMatchObject({ type: "generic", confidence: 12 });
    expect(await source.domain("b.example")).toMatchObject({ organization: "B" });
  });

  test("an import derives type, names, seniority, confidence and pattern that the file does not give", async () => {
    const { source } = await imported(
      "email,full_name,position,source_uri,last_seen_on\nann.lee@a.example,Ann Lee,Chief Sales Officer,https://a.example/t,2026-01-01\ninfo@a.example,,,,\n",
    );
    const ann = await source.find("ann.lee@a.example");
    expect(ann).toMatchObject({ type: "personal", firstName: "Ann", lastName: "Lee" });
    expect(ann?.department).not.toBeNull();
    expect(ann?.confidence).toBe(confidenceOf(ann?.evidence ?? [], Date.now()));
    expect(await source.find("info@a.example")).toMatchObject({
      type: "generic",
      confidence: 70,
      evidence: [],
    });
    expect((await source.domain("a.example"))?.patterns).toEqual([{ pattern: "{first}.{last}", count: 1 }]);
  });

  test("repeated imports keep the first and last sighting of each page and the latest values", async () => {
    const database = open(await createUrl());
    const line = (first: string, from: string, until: string, still: boolean) =>
      `a@a.example,${first},Lee,,,,https://a.example/1,${from},${until},${still}`;
    const take = (...lines: string[]) =>
      importContacts(database, fileOf([HEADER, ...lines].join("\n")), { format: "csv" });
    await take(line("Ann", "2025-05-05", "2025-06-06", true), line("", "2025-01-01", "2025-03-03", false));
    expect(await take(line("Anne", "2025-07-07", "2026-01-01", false))).toMatchObject({
      added: 0,
      updated: 1,
    });
    const source = createSqlContactSource(database);
    const told = await source.find("a@a.example");
    expect(told).toMatchObject({ firstName: "Anne", lastName: "Lee" });
    expect(told?.evidence).toEqual([
      {
        domain: "a.example",
        uri: "https://a.example/1",
        extractedOn: "2025-01-01",
        lastSeenOn: "2026-01-01",
        stillOnPage: false,
      },
    ]);
  });

  test.each(["csv", "ndjson"] as const)(
    "an import of an export as %s yields the same contacts",
    async (format) => {
      const { database: one } = await imported(
        `${personFile(200)}"quoted, 'x'@a.example",,,,,,,,,\ninfo@a.example,"Änn ""A""","L\n1",,,"Org, ""A""",https://a.example/?q=",2025-01-01,2026-01-01,true\n`,
      );
      await importContacts(one, fileOf('{"domain":"only.example","organization":"Only, “Org”"}'), {
        format: "ndjson",
      });
      const dead = personLine(9).split(",")[0] ?? "";
      for (const [address, status] of [
        ["info@a.example", "accept_all"],
        [dead, "invalid"],
      ] as const) {
        await createSqlContactSource(one).recordVerification?.(address, { status, date: "2026-05-04" }, null);
      }
      const text = await textOf(exportContacts(one, { format }));
      expect(text).toMatch(/accept_all\W+(?:verification_date\W+)?2026-05-04/);
      const { database: other, bad } = await imported(text, { format });
      expect(bad).toEqual([]);
      expect(await textOf(exportContacts(other, { format }))).toBe(text);
      expect(text).toContain("only.example");
      const [a, b] = [one, other].map(createSqlContactSource);
      expect(await a?.find(dead)).toMatchObject({ confidence: 0, verification: { status: "invalid" } });
      // The confidence that another verdict restores is exported, too.
      for (const source of [a, b]) {
        await source?.recordVerification?.(dead, { status: "valid", date: "2026-05-05" }, null);
        expect((await source?.find(dead))?.confidence).toBeGreaterThan(0);
      }
      for (const address of [dead, "info@a.example", personLine(7).split(",")[0] ?? ""]) {
        const contact = await a?.find(address);
        expect(contact).not.toBeNull();
        expect(await b?.find(address)).toEqual(contact);
      }
    },
  );

  test("an import skips suppressed addresses and domains", async () => {
    const asked: string[][] = [];
    const victims = new Set([personLine(17).split(",")[0] ?? "", domainOf(60), "only.example"]);
    const lines = `${personFile(250)
      .replace(HEADER, `${HEADER},domain`)
      .replaceAll(/(true|false)\n/g, "$1,\n")}`;
    const { source, progress } = await imported(`${lines},,,,,Only,,,,,only.example\n`, {
      isSuppressed: async (subjects) => {
        asked.push([...subjects]);
        return new Set(subjects.filter((subject) => victims.has(subject)));
      },
    });
    expect(progress).toMatchObject({ lines: 251, added: 229, suppressed: 21, bad: 0 });
    expect(Math.max(...asked.map(({ length }) => length))).toBeLessThanOrEqual(100);
    for (const victim of victims) expect(await source.find(victim)).toBeNull();
    expect((await source.search(domainOf(17), {}, { limit: 1, offset: 0 })).total).toBe(19);
    expect(await source.domain(domainOf(60))).toBeNull();
    expect(await source.domain("only.example")).toBeNull();
  });

  test.each(["csv", "ndjson"] as const)(
    "an export as %s omits suppressed addresses and domains",
    async (format) => {
      const { database } = await imported(personFile(250));
      await importContacts(database, fileOf('{"domain":"only.example","organization":"Only"}'), {
        format: "ndjson",
      });
      const victims = [personLine(17).split(",")[0] ?? "", domainOf(60), "only.example"];
      const isSuppressed = async (subjects: readonly string[]) => {
        expect(subjects.length).toBeLessThanOrEqual(100);
        return new Set(subjects.filter((subject) => victims.includes(subject)));
      };
      const whole = await textOf(exportContacts(database, { format }));
      const shown = await textOf(exportContacts(database, { format, isSuppressed }));
      for (const victim of victims) {
        expect(whole).toContain(victim);
        expect(shown).not.toContain(victim);
      }
      // Twenty addresses of the domain, one single address, and an organisation without addresses.
      expect(whole.trimEnd().split("\n").length - shown.trimEnd().split("\n").length).toBe(22);
    },
  );

  test("an aborted import keeps the batches it reported, and the next import adds only the rest", async () => {
    const database = open(await createUrl());
    const controller = new AbortController();
    const told: ImportProgress[] = [];
    const text = personFile(9000);
    const failure = await importContacts(database, fileOf(text, 10_000), {
      format: "csv",
      signal: controller.signal,
      onProgress: (progress) => {
        told.push(progress);
        if (told.length === 1) controller.abort(new Error("enough"));
      },
    }).catch((error) => error);
    expect(failure).toMatchObject({ message: "enough" });
    expect(told.at(-1)?.added).toBe(4000);
    const source = createSqlContactSource(database);
    // The summaries are stale, but the answers are correct.
    for (const index of [0, 1999, 3999]) {
      const domain = domainOf(index);
      expect((await source.search(domain, {}, { limit: 5, offset: 18 })).contacts.length).toBe(2);
      expect((await source.search(domain, { type: "personal" }, { limit: 1, offset: 0 })).total).toBe(20);
      expect((await source.count(domain)).total).toBe(20);
      expect((await source.domain(domain))?.patterns.length).toBeLessThanOrEqual(1);
    }
    const next = await importContacts(database, fileOf(text, 10_000), { format: "csv" });
    expect(next).toMatchObject({ lines: 9000, added: 5000, unchanged: 4000 });
    expect((await source.count(domainOf(8999))).total).toBe(20);
  });

  test("lines with many pages make smaller batches, and all their pages are stored", async () => {
    const database = open(await createUrl());
    const sources = Array.from({ length: 20 }, (_, page) => ({
      uri: `https://a.example/${page}/${"x".repeat(1500)}`,
      last_seen_on: "2026-01-01",
    }));
    const lines = Array.from({ length: 600 }, (_, index) => ({ email: `p${index}@a.example`, sources }));
    const told: number[] = [];
    const text = lines.map((line) => JSON.stringify(line)).join("\n");
    const file = () => fileOf(text, 65_536);
    await importContacts(database, file(), {
      format: "ndjson",
      onProgress: ({ lines }) => told.push(lines),
    });
    expect(told).toEqual([200, 400, 600]);
    expect(await importContacts(database, file(), { format: "ndjson" })).toMatchObject({ unchanged: 600 });
    const contact = await createSqlContactSource(database).find("p599@a.example");
    expect(contact?.evidence).toHaveLength(20);
  });

  test("an import reads a file stream and destroys it", async () => {
    const directory = await mkdtemp(join(tmpdir(), "outrigger-import-"));
    try {
      await writeFile(join(directory, "a.csv"), personFile(2500));
      const database = open(await createUrl());
      const stream = createReadStream(join(directory, "a.csv"));
      expect(await importContacts(database, stream, { format: "csv" })).toMatchObject({
        added: 2500,
        bad: 0,
      });
      expect(stream.destroyed).toBe(true);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
