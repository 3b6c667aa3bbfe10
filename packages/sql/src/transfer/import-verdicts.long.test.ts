import { expect, test } from "vitest";
import { onEachDatabase } from "../../test/each-database.ts";
import { importer } from "../../test/imported.ts";
import { fileOf } from "../../test/sample-files.ts";
import { importContacts } from "./import-contacts.ts";

onEachDatabase((databases) => {
  const imported = importer(databases);

  test("an import keeps the later of two verdicts, and rejects a verdict with an invalid date", async () => {
    const header = "email,verification status,verification_date";
    const { database, source, bad } = await imported(
      `${header}\na@a.example,Valid,2026-02-03\nb@a.example,valid,\nc@a.example,splendid,2026-02-03\nd@a.example,valid,2026-02-30\n`,
    );
    const verdict = async () => (await source.find("a@a.example"))?.verification;
    expect(await verdict()).toEqual({ status: "valid", date: "2026-02-03" });
    expect((await source.find("b@a.example"))?.verification).toBeUndefined();
    expect((await source.find("c@a.example"))?.verification).toBeUndefined();
    expect(bad).toEqual([{ line: 5, reason: "value", field: "verificationDate" }]);
    for (const [line, expected] of [
      ["a@a.example,invalid,2026-01-01", { status: "valid", date: "2026-02-03" }],
      ["a@a.example,unknown,2026-03-01", { status: "unknown", date: "2026-03-01" }],
    ] as const) {
      await importContacts(database, fileOf(`${header}\n${line}\n`), { format: "csv" });
      expect(await verdict()).toEqual(expected);
    }
  });
});
