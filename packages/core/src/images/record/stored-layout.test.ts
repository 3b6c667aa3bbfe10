import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { relative } from "node:path";
import { expect, test, vi } from "vitest";
import { backupStorage } from "../../../../ops/src/backup.ts";
import { migrateStorage } from "../../../../ops/src/migrate.ts";
import { verified } from "../../../../ops/test/verify-site.ts";
import { bytesAt, created, keysOf } from "../../../test/image-site.ts";
import { anotherProcess, createDiskStore, createLifeSite, DAY } from "../../../test/life-site.ts";
import type { BlobStore, StorageRoles } from "../../contracts/blob-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { FORMAT_VERSION } from "./record-codec.ts";

/** Layout of each version, one line per kind of key and per field. A version's file is never changed but for optional fields. */
const RECORDED = new URL(`../../../test/stored-layout.v${FORMAT_VERSION}.json`, import.meta.url);

/** Writes images in every state, and everything that is stored beside them. */
async function fill(storage: BlobStore | StorageRoles): Promise<void> {
  const records = "records" in storage ? storage.records : storage;
  const clock = { now: Date.now() };
  const authorize = () => ({ owner: "anna" });
  const site = createLifeSite({ clock, authorize, store: records, storage } as object);
  const create = async () =>
    created(await site.create({ headers: { "idempotency-key": `key-${clock.now++}` } }));
  const { id, pin } = await create();
  await site.send("GET", `/api/images/${id}.jpg`);
  await site.send("PATCH", `/api/images/${id}.json`, { search: `pin=${pin}&name=new` });
  await site.images.withhold((await create()).id, { reason: "a demand", authority: "https://example.com/1" });
  await site.images.remove((await create()).id);
  await site.images.deny({ sha256: "0".repeat(64), reason: "a demand" });
  const lost = await create();
  await ("records" in storage ? storage.originals : storage).delete(`${lost.id}/original`);
  await verified(site, { storage, repair: true });
  const asleep = anotherProcess(site, { processUploads: false, authorize, storage } as object);
  await asleep.create({ headers: { prefer: "respond-async" } });
  await create();
  clock.now += DAY / 2;
  await site.images.sweep();
}

/** The kinds of keys in a store, with the fields of those that hold JSON. */
async function layoutOf(name: string, store: BlobStore): Promise<string[]> {
  const lines = new Set<string>();
  for (const key of await keysOf(store)) {
    const kind = `${name} ${kindOf(key)}`;
    const fields = fieldsIn((await bytesAt(store, key)) ?? Buffer.alloc(0));
    for (const field of fields) lines.add(`${kind}: ${field}`);
    if (fields.length === 0) lines.add(kind);
  }
  return [...lines];
}

function kindOf(path: string): string {
  return path
    .replace(/(^|[/.@])[\w-]{22}(?=$|[/.@])/g, "$1<id>")
    .replace(/[0-9a-f]{64}/g, "<hash>")
    .replace(/(copies|denied)\/[0-9a-f]{3}\/[0-9a-f]{61}/, "$1/<hash>")
    .replace(/^(blobs|superseded)\/[\w-]+\//, "$1/<shard>/")
    .replace(/[\w-]+(?=@<id>@)/, "<shard>")
    .replace(/\/[0-9a-f]{16}\.\d+$/, "/<inode and revision>")
    .replace(/renditions\/[^@]+/, "renditions/<name>")
    .replace(/@\d+$/, "@<number>")
    .replace(/[0-9a-z]{9}\./, "<time>.")
    .replace(/^(due\/\w+\/|rendition-\w+\/).*/, "$1<entry>")
    .replace(/\/\d+(?=$|@)/, "/<number>");
}

function fieldsIn(bytes: Buffer): string[] {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null ? fieldsOf("", value) : [];
  } catch {
    // Not JSON: its key alone is compared.
    return [];
  }
}

function fieldsOf(path: string, value: unknown): string[] {
  if (typeof value !== "object" || value === null)
    return [`${path} ${value === null ? "null" : typeof value}`];
  if (Array.isArray(value)) return value.flatMap((each) => fieldsOf(`${path}[]`, each));
  return Object.entries(value).flatMap(([name, each]) =>
    fieldsOf(path === "" ? name : `${path}.${kindOf(name)}`, each),
  );
}

async function storedLayout(): Promise<string[]> {
  const [records, originals, renditions] = [
    createMemoryBlobStore(),
    createMemoryBlobStore(),
    createMemoryBlobStore(),
  ];
  await fill({ records, originals, renditions });
  const disk = createDiskStore();
  await fill(disk);
  const directory = disk.blobDirectory.replace(/.blobs$/, "");
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = files.map(({ parentPath, name }) => kindOf(relative(directory, `${parentPath}/${name}`)));
  const [copy, backup] = [createMemoryBlobStore(), createMemoryBlobStore()];
  await migrateStorage({ from: disk, to: copy, source: "test" });
  await backupStorage({ from: disk, to: backup, source: "test" });
  const lines = [
    ...(await layoutOf("records", records)),
    ...(await layoutOf("originals", originals)),
    ...(await layoutOf("renditions", renditions)),
    ...(await layoutOf("migrated", copy)).filter((line) => line.includes("migration/")),
    ...(await layoutOf("backup", backup)).filter((line) => /backup\/|identity/.test(line)),
    ...paths.filter((path) => !/^(?:tmp|empty)\//.test(path)).map((path) => `directory ${path}`),
  ];
  return [...new Set(lines)].sort();
}

test("the layout of everything stored is the recorded one of this format version: another layout needs another version", async () => {
  // The timer of a poll, which would process the waiting upload.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const layout = await storedLayout();
  vi.useRealTimers();
  if (process.env.OUTRIGGER_WRITE_LAYOUT === "1") {
    const { writeFile } = await import("node:fs/promises");
    await writeFile(RECORDED, `${JSON.stringify(layout, null, 2)}\n`);
  }
  const recorded = JSON.parse(await readFile(RECORDED, "utf8"));
  // Raise FORMAT_VERSION, and record the new layout. Only for an optional field, which an older process may ignore, add its line here.
  expect(layout).toEqual(recorded);
});

test("a key that moves, a field that goes, and a new state are other layouts", () => {
  expect(kindOf(`${"a".repeat(22)}/original`)).toBe("<id>/original");
  expect(kindOf(`pictures/${"a".repeat(22)}`)).not.toBe(kindOf(`${"a".repeat(22)}/original`));
  const record = (value: object) => fieldsIn(Buffer.from(JSON.stringify(value)));
  expect(record({ expiresAt: 1 })).toEqual(["expiresAt number"]);
  expect(record({ expiresAt: null })).not.toEqual(record({ expiresAt: 1 }));
  expect(record({ gone: { at: 1, why: "deleted" } })).toEqual(["gone.at number", "gone.why string"]);
});
