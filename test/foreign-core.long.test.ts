import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as core from "@outrigger/core";
import type { BlobStore } from "@outrigger/core/stores";
import { isError } from "@outrigger/core/values";
import { createRenderer } from "@outrigger/imaging";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installForeignCopies } from "./support/foreign-copies.ts";
import { startHost } from "./support/hosts.ts";
import { pngPhoto } from "./support/pictures.ts";
import { addressOf, postImage, upload } from "./support/service.ts";

type Core = typeof core;

/** The other copies: a backend, a renderer or an adapter that came with a core of its own. */
interface Foreign {
  core: Core;
  imaging: typeof import("@outrigger/imaging");
  sql: typeof import("@outrigger/sql");
}

interface Scenario {
  title: string;
  /** @returns what a client or caller of `host` gets; the foreign parts throw errors of another class. */
  run(host: Core): Promise<number | string>;
  expected: number | string;
  /** The same where `host` recognises errors by class. */
  byClass: number | string;
}

let directory: string;
let foreign: Foreign;
/** A core that recognises errors by their class, on purpose. */
let mutant: Core;
let picture: Buffer;
const PROCESSING = { rateLimits: false, renderBudget: false, asyncAfterMs: false, onError() {} } as const;
const UNREADABLE = Buffer.alloc(600, 0xa7);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-foreign-"));
  const copies = installForeignCopies(join(directory, "backends"), ["core", "imaging", "sql"]);
  foreign = {
    core: await copies.load("core"),
    imaging: await copies.load("imaging"),
    sql: await copies.load("sql"),
  };
  const byClass = (source: string) => source.replace("!(BRAND in error)", "!(error instanceof ServiceError)");
  mutant = await installForeignCopies(join(directory, "mutant"), ["core"], byClass).load("core");
  picture = await pngPhoto(40, 30);
});
afterAll(() => rm(directory, { recursive: true }));

/** An image service of `host` behind a Node server, until `use` has settled. */
async function withImages<T>(
  host: Core,
  options: Partial<core.ImagesOptions>,
  use: (images: core.Images, site: { base: string }) => Promise<T>,
): Promise<T> {
  const images = host.createImages({
    storage: host.createMemoryBlobStore(),
    renderer: createRenderer(),
    secret: "x".repeat(32),
    ...PROCESSING,
    ...options,
  });
  const server = await startHost("node:http", images);
  try {
    return await use(images, server);
  } finally {
    await server.close();
    await images.close();
  }
}

/** The record of an image after an edit by another process. */
function renamed(record: Buffer): Buffer {
  return Buffer.from(JSON.stringify({ ...JSON.parse(record.toString()), name: "renamed" }));
}

/** A store whose next compare-and-set is lost to another writer once `arm` was called. */
function losingStore(store: BlobStore) {
  let isArmed = false;
  return {
    arm() {
      isArmed = true;
    },
    put: async (key, body, options) => {
      if (isArmed && typeof options?.ifRevision === "string") {
        isArmed = false;
        const current = await store.get(key);
        if (Buffer.isBuffer(current?.body)) await store.put(key, renamed(current.body));
      }
      return store.put(key, body, options);
    },
    get: (key, options) => store.get(key, options),
    stat: (key) => store.stat(key),
    delete: (key) => store.delete(key),
    list: (prefix, options) => store.list(prefix, options),
    close: () => store.close(),
  } satisfies BlobStore & { arm(): void };
}

const SCENARIOS: Scenario[] = [
  {
    title: "a closed store",
    async run(host) {
      const storage = foreign.core.createMemoryBlobStore();
      return withImages(host, { storage }, async (_, site) => {
        await storage.close();
        return (await fetch(addressOf(site, "A".repeat(22), "json"))).status;
      });
    },
    expected: 503,
    byClass: 500,
  },
  {
    title: "a picture that the renderer cannot read",
    run: (host) =>
      withImages(host, { renderer: foreign.imaging.createRenderer() }, async (_, site) => {
        // Its first bytes are those of a GIF: only the renderer finds out.
        const bytes = Buffer.concat([Buffer.from("GIF89a"), UNREADABLE]);
        return (await postImage(site, bytes, "image/gif")).status;
      }),
    expected: 415,
    byClass: 500,
  },
  {
    title: "withhold, which retries a lost compare-and-set,",
    async run(host) {
      const storage = losingStore(foreign.core.createMemoryBlobStore());
      return withImages(host, { storage }, async (images, site) => {
        const { id } = await upload(site, picture, "image/png");
        storage.arm();
        try {
          await images.withhold(id, { reason: "a court order" });
        } catch (error) {
          return isError(error) ? error.message : "no error";
        }
        return (await fetch(addressOf(site, id, "png"))).status;
      });
    },
    expected: 451,
    byClass: "The blob was changed by another writer",
  },
  {
    title: "an edit that loses a compare-and-set",
    async run(host) {
      const storage = losingStore(foreign.core.createMemoryBlobStore());
      return withImages(host, { storage }, async (_, site) => {
        const { id, pin } = await upload(site, picture, "image/png");
        storage.arm();
        const body = new URLSearchParams({ pin, name: "another name" });
        return (await fetch(addressOf(site, id, "json"), { method: "PATCH", body })).status;
      });
    },
    expected: 409,
    byClass: 500,
  },
  {
    title: "a lookup in a closed database",
    async run(host) {
      const database = foreign.sql.openDatabase({ url: `file:${join(directory, "lookup.db")}` });
      const lookup = host.createLookup({
        contacts: foreign.sql.createSqlContactSource(database),
        accounts: foreign.sql.createSqlAccounts(database),
        suppressions: foreign.sql.createSqlSuppressionList(database),
        secret: "x".repeat(32),
        requestsPerSecond: false,
        onError() {},
      });
      const server = await startHost("node:http", lookup, "/lookup");
      try {
        await database.close();
        return (await fetch(`${server.base}/v2/email-count?domain=example.com`)).status;
      } finally {
        await server.close();
        await lookup.close();
      }
    },
    expected: 503,
    byClass: 500,
  },
];

describe("between two copies of core in one process", () => {
  test("two copies of core have different classes and recognise each other's errors", () => {
    expect(foreign.core.ServiceError).not.toBe(core.ServiceError);
    const error = new foreign.core.ServiceError("conflict", "lost");
    expect(error).not.toBeInstanceOf(core.ServiceError);
    expect(core.isServiceError(error, "conflict")).toBe(true);
    expect(foreign.core.isServiceError(new core.ServiceError("no_space", "full"), "no_space")).toBe(true);
    expect(mutant.isServiceError(error)).toBe(false);
  });

  for (const { title, run, expected, byClass } of SCENARIOS) {
    test(`${title} gives ${expected}`, async () => {
      expect(await run(core)).toBe(expected);
    });

    test(`${title} would give ${byClass} if core compared classes`, async () => {
      expect(await run(mutant)).toBe(byClass);
    });
  }
});
