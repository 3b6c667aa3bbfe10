import assert from "node:assert/strict";
import { randomBytes, randomInt } from "node:crypto";
import { createImageAdmin, type ImageFilter, type ListedImage, type StorageAdmin } from "@outrigger/core";
import { IMAGE_STATES } from "@outrigger/core/images";
import { type BlobStore, hasRecordQueries } from "@outrigger/core/stores";
import { assertRejects, type BlobStoreScope } from "./scope.ts";

const NOW = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const QUERIES: readonly PropertyKey[] = ["findRecords", "recordParts", "countRecords"];

/** The ability to find and count records. */
export function recordQueriesBehaviour({ test }: BlobStoreScope): void {
  test("queries find and count the same images as reading every record", async (store) => {
    assert.ok(hasRecordQueries(store));
    const admins = [store, withoutQueries(store)].map(adminOf) as [StorageAdmin, StorageAdmin];
    const stored = [...records(), ...oddRecords()].map((bytesFor) => ({ id: newImageId(), bytesFor }));
    const ids = stored.map(({ id }) => id);
    await Promise.all(
      stored.map(({ id, bytesFor }) => store.put(`${id}/record`, bytesFor(id), { ifRevision: null })),
    );
    await assertEqual(admins);
    // Every third record changes to another by compare-and-set or without, and every eleventh is deleted.
    const others = [...oddRecords(), ...records()];
    for (const [at, id] of ids.entries()) {
      const bytes = others[at]?.(id) ?? Buffer.from("{}");
      const revision = (await store.stat(`${id}/record`))?.revision ?? null;
      if (at % 3 === 0) await store.put(`${id}/record`, bytes, at % 2 === 0 ? { ifRevision: revision } : {});
      if (at % 11 === 0) await store.delete(`${id}/record`);
    }
    await assertEqual(admins, [{}]);
    for (const id of ids) await store.delete(`${id}/record`);
  });

  test("findRecords and countRecords ignore blobs that are no records", async (store, key) => {
    assert.ok(hasRecordQueries(store));
    const id = newImageId();
    const keys = [`${key}/record`, `${id}/original`, `${id}/a/record`, `${id}/record/a`];
    for (const one of keys) await store.put(one, (records()[0] ?? assert.fail())(id));
    const listed: ListedImage[] = [];
    for await (const image of adminOf(store).list()) listed.push(image);
    assert.ok(listed.every((image) => image.id !== id));
    for (const one of keys) await store.delete(one);
  });

  test("findRecords rejects a cursor that it did not issue with bad_request", async (store) => {
    assert.ok(hasRecordQueries(store));
    for (const cursor of ["", "x", "-1,", "99999,", "0,../x", "0"]) {
      await assertRejects(() => store.findRecords({}, NOW, cursor), "bad_request", cursor);
    }
  });

  test("findRecords and countRecords reject with store_unavailable after close", async (store) => {
    assert.ok(hasRecordQueries(store));
    await store.close();
    await assertRejects(() => store.findRecords({}, NOW), "store_unavailable", "find");
    await assertRejects(() => store.countRecords(0, NOW), "store_unavailable", "count");
  });
}

function adminOf(storage: BlobStore): StorageAdmin {
  return createImageAdmin({ storage, now: () => NOW, onError: () => undefined });
}

function withoutQueries(store: BlobStore): BlobStore {
  return new Proxy(store, { has: (target, name) => !QUERIES.includes(name) && Reflect.has(target, name) });
}

const FILTERS: readonly ImageFilter[] = [
  {},
  ...IMAGE_STATES.map((state) => ({ state })),
  ...["alice", "\ud800", "\0", "o".repeat(3000)].map((owner) => ({ owner })),
  { createdFrom: NOW - 5 * DAY_MS },
  { createdBefore: NOW - 5 * DAY_MS },
  { createdFrom: NOW - 8 * DAY_MS, createdBefore: NOW - 2 * DAY_MS, owner: "alice", state: "expired" },
];

async function assertEqual(
  [asked, read]: readonly [StorageAdmin, StorageAdmin],
  filters = FILTERS,
): Promise<void> {
  const all = await listed(read, {});
  for (const filter of filters) {
    const expected = all.filter((image) => isWanted(image, filter));
    assert.deepEqual(await listed(asked, filter), expected, JSON.stringify(filter));
  }
  // The index of owners, which finds those of one owner, is empty here.
  const { owner: _, ...last } = FILTERS.at(-1) ?? assert.fail();
  assert.deepEqual(
    await listed(read, last),
    all.filter((image) => isWanted(image, last)),
  );
  assert.deepEqual(await asked.stats(), await read.stats());
}

function isWanted(image: ListedImage, { state, owner, createdFrom, createdBefore }: ImageFilter): boolean {
  const hasDate = image.state !== "damaged";
  return (
    (state === undefined || image.state === state) &&
    (owner === undefined || image.owner === owner) &&
    (createdFrom === undefined || (hasDate && image.createdAt >= createdFrom)) &&
    (createdBefore === undefined || (hasDate && image.createdAt < createdBefore))
  );
}

async function listed(admin: StorageAdmin, filter: ImageFilter): Promise<ListedImage[]> {
  const images: ListedImage[] = [];
  for await (const image of admin.list(filter)) images.push(image);
  return images.sort((one, other) => (one.id < other.id ? -1 : 1));
}

type Bytes = (id: string) => Buffer;

/** Records of every state by their fields and by their dates, with random sizes and dates. */
function records(): Bytes[] {
  const endings = [
    {},
    { failure: "no picture" },
    ...["deleted", "expired", "withheld"].map((why) => ({ gone: { at: NOW - 1, why } })),
  ];
  const withheld = [null, NOW, NOW - 1, NOW + 1].map((deleteAfter) => {
    return { withheld: { reason: "x", authority: null, since: 1, deleteAfter } };
  });
  const processing = { processing: { tries: 0, leaseUntil: 0, worker: null } };
  const fields = [{ withheld: null }, ...withheld].flatMap((one) =>
    endings.flatMap((ending) => [
      { ...one, ...ending },
      { ...one, ...ending, ...processing },
    ]),
  );
  return fields.flatMap((one) =>
    [NOW - DAY_MS, NOW, NOW + 1, null].map((expiresAt) => {
      const owner = ([null, "alice", "bob"] as const)[randomInt(3)] ?? null;
      return recordWith({ ...one, expiresAt, owner: owner === null ? null : { name: owner, bytes: 1 } });
    }),
  );
}

function recordWith(fields: object): Bytes {
  const createdAt = NOW - randomInt(10 * DAY_MS);
  const state = { owner: null, gone: null, withheld: null, processing: null, failure: null };
  const known = { v: 1, name: "a", type: "image/png", size: randomInt(2 ** 40), sha256: "00" };
  const record = { ...known, createdAt, updatedAt: createdAt, expiresAt: NOW + DAY_MS, ...state, ...fields };
  return (id) => Buffer.from(JSON.stringify({ id, ...record }));
}

/** Damaged records, those of a newer release, and texts that a database may refuse. */
function oddRecords(): Bytes[] {
  const ended = { gone: { at: 1, why: "deleted" }, withheld: null };
  const owners = ["\0", "\ud800", "o".repeat(3000), "' OR true --"].map((name) => ({
    owner: { name, bytes: 1 },
  }));
  const fields = [
    ...owners,
    ...[{ v: 3 }, { v: 3, createdAt: "then" }, { v: "x" }, { v: 0 }, { id: newImageId() }],
    ...[
      { size: -1 },
      { size: 1.5 },
      { size: "1" },
      { createdAt: 1e300 },
      { expiresAt: null },
      { owner: "a" },
    ],
    ...[{ damaged: true }, { damaged: true, ...ended }, { withheld: {} }, { gone: { at: 1, why: "lost" } }],
    ...[{ placeholder: "\n" }, { createdAt: Number.MAX_SAFE_INTEGER }, { createdAt: -1, name: "\0\ud800" }],
  ].map(recordWith);
  const owned = '{"owner":{"name":"alice","bytes":1}}';
  const texts = ["", "{", "null", "[]", '"text"', "1", "{}", '{"v":1}', owned];
  return [...fields, ...texts.map((text) => () => Buffer.from(text)), () => Buffer.from([0xff, 0, 0x80])];
}

function newImageId(): string {
  return randomBytes(16).toString("base64url");
}
