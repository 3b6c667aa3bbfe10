import { expect, test } from "vitest";
import { onEachDatabase } from "../../test/each-database.ts";
import { importer } from "../../test/imported.ts";
import { bytesOf } from "../../test/usual-file.ts";
import { USUAL_FILES } from "../../test/usual-files.ts";
import { importContacts } from "./import-contacts.ts";

onEachDatabase((databases) => {
  const imported = importer(databases);

  test("an import stores both people of each usual file, and a dry run shows them as they are stored", async () => {
    for (const [name, file] of Object.entries(USUAL_FILES)) {
      const chunks = [bytesOf(file)];
      const options = file.encoding === "windows-1252" ? { encoding: file.encoding } : {};
      const { source, progress } = await imported(bytesOf(file), { format: undefined, ...options });
      expect(progress, name).toMatchObject({ lines: 2, added: 2, bad: 0 });
      const dry = await importContacts(
        null,
        (async function* () {
          yield* chunks;
        })(),
        options,
      );
      expect({ ...dry, added: 2, samples: [] }, name).toEqual(progress);
      expect(dry.samples.length, name).toBe(2);
      for (const sample of dry.samples as {
        address: string;
        first_name: string;
        position: string;
        organization: string;
      }[]) {
        const contact = await source.find(sample.address);
        expect([contact?.firstName, contact?.position], name).toEqual([sample.first_name, sample.position]);
        const domain = await source.domain(sample.address.replace(/.*@/, ""));
        expect(domain?.organization, name).toBe(sample.organization);
      }
    }
  });
});
