import { mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeRenderer } from "@outrigger/testing";
import { afterAll, describe, expect, test } from "vitest";
import { migrateStorage } from "../../../../ops/src/migrate.ts";
import { created, createSite, eventually, storedRecord } from "../../../test/image-site.ts";
import { createLifeSite } from "../../../test/life-site.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { createFsBlobStore } from "../../stores/fs/fs-blob-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { createImages, type Images } from "../images.ts";
import type { ImagesOptions } from "../images-options.ts";
import { createImageAdmin } from "../life/image-admin.ts";
import { fingerprintsOf, readIdentity, type StoreIdentity } from "./store-identity.ts";

const OLD = "an old secret of at least 32 bytes, say";
const NEW = "a new secret of at least 32 bytes, say!";
const directories: string[] = [];

afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

async function identityOf(store: BlobStore): Promise<StoreIdentity | undefined> {
  return (await readIdentity(store))?.identity;
}

async function rewriteIdentity(store: BlobStore, changes: object): Promise<void> {
  await store.put("identity", Buffer.from(JSON.stringify({ ...(await identityOf(store)), ...changes })));
}

/** Runs a service on a directory with the secret kept there. Returns the result and the log lines. */
async function onDirectory<T>(
  directory: string,
  use: (images: Images, errors: unknown[]) => Promise<T>,
  options: Partial<ImagesOptions> = {},
): Promise<{ result: T; lines: string[] }> {
  const lines: string[] = [];
  const errors: unknown[] = [];
  const info = (fields: object, message: string) => lines.push(`${message} ${JSON.stringify(fields)}`);
  const images = createImages({
    storage: createFsBlobStore({ directory }),
    renderer: createFakeRenderer(),
    logger: { info, warn() {}, error() {} },
    onError: (error) => errors.push(error),
    ...options,
  });
  try {
    return { result: await use(images, errors), lines };
  } finally {
    await images.close();
  }
}

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "outrigger-identity-"));
  directories.push(directory);
  return directory;
}

describe("a new storage", () => {
  test("gets one identity, with the fingerprint of the secret, from five processes that start at once", async () => {
    const store = createMemoryBlobStore();
    const sites = Array.from({ length: 5 }, () => createSite({ store, secret: [NEW, OLD] }));
    await Promise.all(sites.map(({ images }) => images.ready()));
    const identity = await identityOf(store);
    expect(identity).toMatchObject({ v: 1, secrets: fingerprintsOf([NEW, OLD]) });
    expect(JSON.stringify(identity)).not.toContain(NEW);
    expect(identity?.id).toMatch(/^[0-9a-f]{32}$/);
    expect(sites.flatMap(({ errors }) => errors)).toEqual([]);
  });

  test("in a directory is logged once with its path, and gets a secret", async () => {
    const directory = newDirectory();
    const first = await onDirectory(directory, (images) => images.ready());
    expect(first.lines).toEqual([expect.stringMatching(/^new data directory .*"where":"/)]);
    expect(first.lines[0]).toContain(JSON.stringify(directory));
    expect(readdirSync(directory)).toContain("secret");
    expect((await onDirectory(directory, (images) => images.ready())).lines).toEqual([]);
  });

  test("with requireStore answers 503 to all calls, and neither data nor a secret is written", async () => {
    const directory = newDirectory();
    const refused = await onDirectory(
      directory,
      async (images, errors) => {
        await expect(images.ready()).rejects.toMatchObject({
          code: "store_unavailable",
          message: expect.stringContaining("The data directory is empty, and an existing one is required"),
        });
        await expect(images.sweep()).rejects.toMatchObject({ code: "store_unavailable" });
        return errors.length;
      },
      { requireStore: true },
    );
    expect(refused.result).toBe(1);
    expect(readdirSync(directory)).not.toContain("secret");
    const store = createMemoryBlobStore();
    const site = createLifeSite({ store, requireStore: true });
    expect((await site.create()).status).toBe(503);
    expect((await store.list("")).keys).toEqual([]);
    await createSite({ store }).images.ready();
    expect((await site.create()).status).toBe(201);
  });
});

test("a storage that lost its identity gets another, even with requireStore", async () => {
  const store = createMemoryBlobStore();
  const { id } = created(await createLifeSite({ store, secret: OLD }).create());
  await store.delete("identity");
  const site = createLifeSite({ store, secret: OLD, requireStore: true });
  expect((await site.send("GET", `/api/images/${id}.json`)).status).toBe(200);
  expect(await identityOf(store)).toMatchObject({ v: 1, secrets: fingerprintsOf(OLD) });
});

describe("a storage used with another secret", () => {
  test("answers 503, and is reported once with the remedy and without the secret", async () => {
    const store = createMemoryBlobStore();
    const { id } = created(await createLifeSite({ store, secret: OLD }).create());
    const site = createLifeSite({ store, secret: NEW });
    const pages = { headers: { accept: "text/html" } };
    expect((await site.send("GET", `/api/images/${id}.json`)).status).toBe(503);
    expect((await site.send("GET", `/${id}`, pages)).status).toBe(503);
    expect((await site.send("GET", "/api/images/AAAAAAAAAAAAAAAAAAAAAA.png")).status).toBe(503);
    const answer = await site.create();
    expect(answer.status).toBe(503);
    expect(answer.headers["Retry-After"]).toBe("2");
    await expect(site.images.ready()).rejects.toMatchObject({ code: "store_unavailable" });
    expect(site.errors).toHaveLength(1);
    const said = String(site.errors[0]);
    expect(said).toMatch(/made with another secret.*option secret.*OUTRIGGER_SECRET/);
    expect(said).not.toMatch(new RegExp(`${OLD}|${NEW}`));
    expect(answer.text).not.toContain("secret");
    expect((await identityOf(store))?.secrets).toEqual(fingerprintsOf(OLD));
  });

  test("is served with a list that contains the old secret, and from then on with the new secret alone", async () => {
    const store = createMemoryBlobStore();
    const image = created(await createLifeSite({ store, secret: OLD }).create());
    const both = createLifeSite({ store, secret: [NEW, OLD] });
    const patched = { headers: { "x-service-image-pin": image.pin }, fields: { name: "renamed" } };
    expect((await both.send("PATCH", `/api/images/${image.id}.json`, patched)).status).toBe(200);
    expect((await identityOf(store))?.secrets).toEqual(fingerprintsOf([NEW, OLD]));
    await expect(createSite({ store, secret: NEW }).images.ready()).resolves.toBeUndefined();
    for (let count = 0; count < 9; count++) {
      await createSite({ store, secret: [`${NEW} ${count}`, NEW] }).images.ready();
    }
    const { secrets = [] } = (await identityOf(store)) ?? {};
    expect(secrets).toHaveLength(8);
    expect(secrets[0]).toBe(fingerprintsOf(`${NEW} 8`)[0]);
  });
});

test("a directory without its secret file is rejected until the file is back, and gets no new secret", async () => {
  for (const hasIdentity of [true, false]) {
    const directory = newDirectory();
    const file = join(directory, "secret");
    await onDirectory(directory, async (images) => {
      await images.ready();
      await images.sweep();
    });
    const store = createFsBlobStore({ directory });
    await store.put("idempotency/abc", Buffer.from("{}"));
    if (!hasIdentity) await store.delete("identity");
    await store.close();
    renameSync(file, `${file}.away`);
    await onDirectory(directory, async (images, errors) => {
      const refused = {
        code: "store_unavailable",
        message: expect.stringContaining(`Restore the file ${file}`),
      };
      await expect(images.ready()).rejects.toMatchObject(refused);
      expect(readdirSync(directory)).not.toContain("secret");
      expect(errors).toHaveLength(1);
      renameSync(`${file}.away`, file);
      await expect(images.ready()).resolves.toBeUndefined();
    });
  }
});

test("services, commands and migrations reject a storage changed by a newer release", async () => {
  const store = createMemoryBlobStore();
  const first = createLifeSite({ store });
  const { id } = created(await first.create());
  await rewriteIdentity(store, { v: 3 });
  const site = createLifeSite({ store });
  expect((await site.send("GET", `/api/images/${id}.json`)).status).toBe(503);
  expect(site.errors).toHaveLength(1);
  const refused = { code: "store_unavailable", message: expect.stringContaining("format version 3") };
  await expect(site.images.stats()).rejects.toMatchObject(refused);
  const reported: unknown[] = [];
  const onError = (error: unknown) => reported.push(error);
  const admin = createImageAdmin({ storage: { ...store, close: async () => {} }, onError });
  await expect(admin.withhold(id, { reason: "no" })).rejects.toMatchObject(refused);
  await expect(admin.sweep()).rejects.toMatchObject(refused);
  await admin.close();
  // The caller already received the error.
  expect(reported).toEqual([]);
  for (const [from, to] of [
    [store, createMemoryBlobStore()],
    [createMemoryBlobStore(), store],
  ] as const) {
    await expect(migrateStorage({ from, to, source: "test" })).rejects.toMatchObject(refused);
  }
  // An open service still serves its images, but answers 503 instead of 404 for missing ones.
  expect((await first.send("GET", `/api/images/${id}.json`)).status).toBe(200);
  expect((await first.send("GET", "/api/images/AAAAAAAAAAAAAAAAAAAAAA.json")).status).toBe(503);
});

test("commands write no identity", async () => {
  const store = createMemoryBlobStore();
  const { id } = created(await createLifeSite({ store, clock: { now: Date.now() } }).create());
  await store.delete("identity");
  const admin = createImageAdmin({ storage: { ...store, close: async () => {} } });
  await admin.withhold(id, { reason: "a demand" });
  expect(await storedRecord(store, id)).toMatchObject({ withheld: { reason: "a demand" } });
  await expect(admin.withhold("AAAAAAAAAAAAAAAAAAAAAA", { reason: "no" })).rejects.toMatchObject({
    code: "not_found",
  });
  expect(await identityOf(store)).toBeUndefined();
  await admin.close();
});

test("after a failed first check, the next call checks the store again", async () => {
  const kept = createMemoryBlobStore();
  let isAway = true;
  const store = tapStore(kept, () => {
    if (isAway) throw new ServiceError("store_unavailable", "No answer.");
  });
  const site = createLifeSite({ store });
  await expect(site.images.ready()).rejects.toMatchObject({ message: "No answer." });
  expect((await site.create()).status).toBe(503);
  isAway = false;
  expect((await site.create()).status).toBe(201);
  await eventually(async () => expect(await identityOf(kept)).toMatchObject({ v: 1 }));
});

test("a storage without space for its identity serves its images, and gets the identity at a later start", async () => {
  const kept = createMemoryBlobStore();
  const { id } = created(await createLifeSite({ store: kept, secret: OLD }).create());
  await kept.delete("identity");
  const store = tapStore(kept, ({ method, key }) => {
    if (method === "put" && key === "identity") throw new ServiceError("no_space", "Full.");
  });
  const full = createLifeSite({ store, secret: OLD });
  expect((await full.send("GET", `/api/images/${id}.json`)).status).toBe(200);
  expect((await full.send("GET", "/api/images/AAAAAAAAAAAAAAAAAAAAAA.json")).status).toBe(404);
  await createSite({ store: kept, secret: OLD }).images.ready();
  expect((await full.send("GET", "/api/images/AAAAAAAAAAAAAAAAAAAAAA.json")).status).toBe(404);
  const rotated = createLifeSite({ store, secret: [NEW, OLD] });
  expect((await rotated.send("GET", `/api/images/${id}.json`)).status).toBe(200);
  expect((await identityOf(kept))?.secrets).toEqual(fingerprintsOf(OLD));
  const empty = createLifeSite({
    store: tapStore(createMemoryBlobStore(), () => {
      throw new ServiceError("no_space", "Full.");
    }),
  });
  expect((await empty.create()).status).toBe(507);
});
