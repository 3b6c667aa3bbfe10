import { expect, test } from "vitest";
import { onEachDatabase } from "../../test/each-database.ts";
import { importer } from "../../test/imported.ts";
import { textOf } from "../../test/sample-files.ts";
import { exportContacts } from "./export-contacts.ts";

const WORK = "ann.best@acme.example";

onEachDatabase(({ createUrl, open }) => {
  const imported = importer({ createUrl, open });

  test("an import of a page without dates leaves its dates unknown, exports it so, and a dated import fills them", async () => {
    const uri = "https://acme.example/team";
    const { source, database, progress } = await imported(`Email,Source 1 URI\n${WORK},${uri}\n`);
    expect(progress).toMatchObject({ added: 1, dropped: 0 });
    const page = { domain: "acme.example", uri, extractedOn: null, lastSeenOn: null, stillOnPage: false };
    expect(await source.find(WORK)).toMatchObject({ evidence: [page], confidence: 20 });
    for (const format of ["csv", "ndjson"] as const) {
      const text = await textOf(exportContacts(database, { format }));
      const again = await imported(text, { format });
      expect(await again.source.find(WORK)).toEqual(await source.find(WORK));
      expect(await textOf(exportContacts(again.database, { format }))).toBe(text);
    }
    const dated = await imported(
      [
        "email,url,last_seen_on,still_on_page",
        `${WORK},${uri},,`,
        `${WORK},${uri},2026-02-01,yes`,
        `${WORK},https://acme.example/old,,`,
        `${WORK},${uri},,`,
      ].join("\n"),
    );
    expect((await dated.source.find(WORK))?.evidence).toEqual([
      { ...page, extractedOn: "2026-02-01", lastSeenOn: "2026-02-01", stillOnPage: true },
      { ...page, uri: "https://acme.example/old" },
    ]);
  });
});
