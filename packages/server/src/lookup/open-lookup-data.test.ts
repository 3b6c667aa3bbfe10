import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createFsBlobStore, createLookup, createMemoryBlobStore } from "@outrigger/core";
import { createSqlSuppressionList, openDatabase } from "@outrigger/sql";
import { afterEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/outrigger-process.ts";
import { type LookupData, openLookupData } from "./open-lookup-data.ts";
import { seedSamples } from "./samples.ts";

const OLD = "o".repeat(32);
const NEW = "n".repeat(32);
const opened = new Set<LookupData>();

afterEach(async () => {
  for (const data of opened) await data.close();
  opened.clear();
});

async function open(
  path: string,
  secret?: string | string[],
  records = createMemoryBlobStore(),
): Promise<LookupData> {
  const lookup = { database: { kind: "file", path } } as const;
  const data = await openLookupData({ lookup, ...(secret === undefined ? {} : { secret }) }, records);
  opened.add(data);
  return data;
}

function suppress(data: LookupData, subject: string): Promise<void> {
  const { contacts, accounts, suppressionList, secrets } = data;
  return createLookup({ contacts, accounts, suppressions: suppressionList, secret: secrets }).suppress(
    subject,
  );
}

/** A database of an earlier release: its suppression has no marker of its secret. */
async function withUnmarkedEntry(path: string): Promise<void> {
  const database = openDatabase({ url: `file:${path}` });
  await createSqlSuppressionList(database).add([randomBytes(32).toString("base64url")]);
  await database.close();
}

describe("the secret of the lookup's database", () => {
  it("is found at any position in a list of secrets", async () => {
    const path = join(await temporaryDirectory(), "below", "lookup.db");
    await suppress(await open(path, OLD), "ada@example.com");
    const rotated = await open(path, [NEW, OLD]);
    const asked = ["ada@example.com", "bob@example.com"];
    expect(await rotated.suppressions.among(asked)).toEqual(new Set(["ada@example.com"]));
  });

  it("keeps the sample key of a demonstration after a rotation", async () => {
    const path = join(await temporaryDirectory(), "lookup.db");
    const key = await seedSamples(await open(path, OLD));
    expect(key).toMatch(/^[0-9a-f]{40}$/);
    expect(await seedSamples(await open(path, [NEW, OLD]))).toBe(key);
  });

  it("must stay in the list: without it the server refuses to start and suppressed people stay hidden", async () => {
    const path = join(await temporaryDirectory(), "lookup.db");
    await open(path, OLD);
    await expect(open(path, NEW)).rejects.toThrow(
      `The suppressions in the lookup's database file:${path} were made with another secret`,
    );
  });

  it("must be configured if no store keeps one", async () => {
    const path = join(await temporaryDirectory(), "lookup.db");
    await expect(open(path)).rejects.toThrow("lookup.secret: must be set for the lookup's suppressions");
  });

  it("adopts suppressions without a marker if it is configured", async () => {
    const path = join(await temporaryDirectory(), "lookup.db");
    await withUnmarkedEntry(path);
    await open(path, OLD);
    await expect(open(path, NEW)).rejects.toThrow(
      "Set lookup.secret to the earlier secret, or to a list of both",
    );
    await open(path, OLD);
  });

  it("rejects suppressions without a marker if the data directory created it, and names the setting", async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, "lookup.db");
    await withUnmarkedEntry(path);
    const records = createFsBlobStore({ directory: join(directory, "data") });
    await expect(open(path, undefined, records)).rejects.toThrow(
      "is not configured. Set lookup.secret or OUTRIGGER_SECRET to the secret of the app",
    );
    await records.close();
  });
});
