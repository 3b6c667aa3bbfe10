import { join } from "node:path";
import { createLookup, createMemoryBlobStore, createSuppressions } from "@outrigger/core";
import { afterEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/outrigger-process.ts";
import { type LookupData, openLookupData } from "./open-lookup-data.ts";

const OLD = "o".repeat(32);
const NEW = "n".repeat(32);
const opened = new Set<LookupData>();

afterEach(async () => {
  for (const data of opened) await data.close();
  opened.clear();
});

async function open(path: string, secret?: string | string[]): Promise<LookupData> {
  const lookup = { database: { kind: "file", path } } as const;
  const data = await openLookupData(
    { lookup, ...(secret === undefined ? {} : { secret }) },
    createMemoryBlobStore(),
  );
  opened.add(data);
  return data;
}

function suppress({ contacts, accounts, suppressions, keys }: LookupData, subject: string): Promise<void> {
  return createLookup({ contacts, accounts, suppressions, secret: keys.secret }).suppress(subject);
}

describe("the secret of the lookup's database", () => {
  it("is found in a list, wherever it stands there", async () => {
    const path = join(await temporaryDirectory(), "below", "lookup.db");
    await suppress(await open(path, OLD), "ada@example.com");
    const rotated = await open(path, [NEW, OLD]);
    const asked = ["ada@example.com", "bob@example.com"];
    const { among } = createSuppressions(rotated.suppressions, rotated.keys.secret);
    expect(await among(asked)).toEqual(new Set(["ada@example.com"]));
  });

  it("is missed where it is gone: nobody who is left out is told of again", async () => {
    const path = join(await temporaryDirectory(), "lookup.db");
    await open(path, OLD);
    await expect(open(path, NEW)).rejects.toThrow(
      `The suppressions in the lookup's database file:${path} were made with another secret`,
    );
  });

  it("must be given where nothing keeps one", async () => {
    const path = join(await temporaryDirectory(), "lookup.db");
    await expect(open(path)).rejects.toThrow("There is no secret for the lookup's suppressions");
  });
});
