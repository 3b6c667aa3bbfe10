import { isServiceError } from "@outrigger/core";
import { expect, test } from "vitest";
import { onEachDatabase } from "../../test/each-database.ts";
import { importer } from "../../test/imported.ts";
import { domainOf, fileOf, HEADER, personLine } from "../../test/sample-files.ts";
import type { BadLine } from "./file-line.ts";
import { importContacts } from "./import-contacts.ts";

onEachDatabase(({ createUrl, open }) => {
  const imported = importer({ createUrl, open });

  test("an import keeps a full name that cannot be split as the last name, unless a first name is known", async () => {
    const lines = ["a,,,Suharto", "b,,,von Neumann", "c,,,Di Zhang", "d,Ada,,Ada Lovelace", "f,,,-"];
    lines.push("e,Ada,Lovelace,", "e,,,Lovelace", "g,,,Soeharto", "g,,,Suharto");
    const rows = lines.map((line) => line.replace(",", "@a.example,"));
    const { source } = await imported(["email,first_name,last_name,full_name", ...rows].join("\n"));
    const names = [..."abcdefg"].map(async (local) => {
      const contact = await source.find(`${local}@a.example`);
      return `${contact?.firstName} ${contact?.lastName}`;
    });
    expect((await Promise.all(names)).join(", ")).toBe(
      "null Suharto, null von Neumann, Di Zhang, Ada Lovelace, Ada Lovelace, null null, null Suharto",
    );
  });

  test("an import of CSV skips bad lines and reports the number, reason and field of each", async () => {
    const good = "a@a.example,,,,,,,,,";
    const lines: [string, BadLine["reason"] | null, BadLine["field"]?][] = [
      [good, null],
      ["a@a.example,too few", "columns"],
      [`${good},too many`, "columns"],
      ["not an address,,,,,,,,,", "address"],
      [",Ann,Lee,,,,,,,", "address"],
      ["b@a.example,M\uFFFDller,,,,,,,,", "encoding", "firstName"],
      ['d@a.example,"x" y,x "y",,,,,,,', null],
      ["c@a.example,Zoë,Müller,,,,,,,", null],
    ];
    const file = [HEADER, ...lines.map(([line]) => line), ""].join("\n");
    const { source, bad, progress } = await imported(file);
    const expected = lines.flatMap(([, reason, field], index) =>
      reason === null ? [] : [{ line: index + 2, reason, ...(field && { field }) }],
    );
    expect(bad.toSorted((a, b) => a.line - b.line)).toEqual(expected);
    expect(progress).toMatchObject({ lines: lines.length, added: 3, bad: expected.length });
    expect(await source.find("b@a.example")).toBeNull();
    expect((await source.search("a.example", {}, { limit: 10, offset: 0 })).total).toBe(3);
    expect(await source.find("d@a.example")).toMatchObject({ firstName: '"x" y', lastName: 'x "y"' });
  });

  test("an import of NDJSON reports the number, reason and field of each bad line", async () => {
    const lines = [
      '{"email":"a@a.example"}',
      "",
      "[]",
      '{"email":',
      '{"email":{"x":1}}',
      '{"email":"c@a.exam',
    ];
    const { bad, progress } = await imported(lines.join("\n"), { format: "ndjson" });
    expect(bad).toEqual([
      { line: 3, reason: "json" },
      { line: 4, reason: "json" },
      { line: 5, reason: "address" },
      { line: 6, reason: "truncated" },
    ]);
    expect(progress.added).toBe(1);
  });

  test.each(["a@a.example,Ann", 'a@a.example,"Ann'])(
    "an import reports a truncated last line: %s",
    async (last) => {
      const { source, bad } = await imported(`${HEADER}\n${personLine(1)}\n${last}`);
      expect(bad).toEqual([{ line: 3, reason: "truncated" }]);
      expect((await source.search(domainOf(1), {}, { limit: 1, offset: 0 })).total).toBe(1);
    },
  );

  test('an import with onBadLine "fail" rejects at the first bad line', async () => {
    const database = open(await createUrl());
    const file = fileOf(`${HEADER}\n${personLine(0)}\nnot an address,,,,,,,,,\n`);
    const failure = await importContacts(database, file, { format: "csv", onBadLine: "fail" }).catch(
      (error) => error,
    );
    expect(isServiceError(failure, "bad_request")).toBe(true);
    expect(failure.message).toContain("Line 3");
  });

  test.each(["name,position\nAnn,CEO\n", `${HEADER}\n"${"x\n".repeat(600_000)}`])(
    "an import rejects CSV without a column of addresses or with an endless record",
    async (text) => {
      const database = open(await createUrl());
      const failure = await importContacts(database, fileOf(text, 65_536), { format: "csv" }).catch(
        (error) => error,
      );
      expect(isServiceError(failure, "bad_request"), String(failure)).toBe(true);
    },
  );
});
