import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { paginateListObjectsV2 } from "@aws-sdk/client-s3";
import { startPostgres } from "../support/postgres-server.ts";
import { startRedis, startRedisCluster } from "../support/redis-server.ts";
import { useS3Server } from "../support/s3-server.ts";
import type { StorageDescription, StoreDescription } from "./open-storage.mjs";

/** The kinds of storage that several processes can share. */
export const STORAGE_NAMES = [
  "a directory",
  "Redis",
  "a Redis cluster",
  "S3",
  "S3 with records in Redis",
  "S3 with records in PostgreSQL",
] as const;
export type StorageName = (typeof STORAGE_NAMES)[number];

/** The servers behind {@link STORAGE_NAMES}, run by the test. */
export interface Servers {
  /** Separate, empty storage. */
  createStorage(name: StorageName): StorageDescription;
  /** Names of everything stored, in the file system's or server's terms, including data that no store lists. */
  namesIn(storage: StorageDescription): Promise<string[]>;
  /** Stops the servers and removes their data. */
  close(): Promise<void>;
}

/** Starts what the storages of these names need. */
export async function startServers(names: readonly string[]): Promise<Servers> {
  const isNeeded = (server: string) => names.some((name) => name.includes(server));
  const root = await mkdtemp(join(tmpdir(), "outrigger-backends-"));
  const started: { close(): Promise<void> }[] = [];
  const start = async <T>(server: Promise<T>, close: (server: T) => Promise<void>): Promise<T> => {
    const running = await server;
    started.push({ close: () => close(running) });
    return running;
  };
  const close = async () => {
    for (const server of started) await server.close();
    await rm(root, { recursive: true, force: true });
  };
  const starts = [
    start(startRedis(), (server) => server.close()),
    isNeeded("cluster") ? start(startRedisCluster(), (cluster) => cluster.close()) : undefined,
    isNeeded("S3") ? start(useS3Server(), (server) => server.stop()) : undefined,
    isNeeded("PostgreSQL") ? start(startPostgres(), (server) => server.close()) : undefined,
  ] as const;
  try {
    const [redis, cluster, s3, postgres] = await Promise.all(starts);
    const bucket = (await s3?.createBucket()) ?? "";
    const ofS3 = () => {
      const { endpoint, credentials } = needed(s3);
      return { endpoint, credentials, bucket, prefix: randomUUID() };
    };

    const stores = {
      directory: () => ({ kind: "file", directory: mkdtempSync(join(root, "data-")) }),
      redis: () => ({ kind: "redis", url: redis.url, prefix: randomUUID() }),
      cluster: () => ({ kind: "redis", url: needed(cluster).urls, prefix: randomUUID() }),
      postgres: () => ({
        kind: "postgres",
        url: needed(postgres).url,
        prefix: `t${randomBytes(6).toString("hex")}`,
      }),
      s3: () => ({ kind: "s3", ...ofS3() }),
    } satisfies Record<string, () => StoreDescription>;
    const storages: Record<StorageName, () => StorageDescription> = {
      "a directory": () => ({ records: stores.directory() }),
      Redis: () => ({ records: stores.redis() }),
      "a Redis cluster": () => ({ records: stores.cluster() }),
      S3: () => ({ records: stores.s3() }),
      "S3 with records in Redis": () => ({ records: stores.redis(), pictures: stores.s3() }),
      "S3 with records in PostgreSQL": () => ({ records: stores.postgres(), pictures: stores.s3() }),
    };

    async function namesOf(store: StoreDescription): Promise<string[]> {
      switch (store.kind) {
        case "file":
          return await readdir(store.directory, { recursive: true });
        case "redis": {
          const nodes = typeof store.url === "string" ? [redis] : needed(cluster).nodes;
          const lists = await Promise.all(nodes.map((node) => node.cli("KEYS", `${store.prefix}:*`)));
          return lists.flatMap((list) => list.split("\n")).filter((name) => name !== "");
        }
        case "postgres": {
          const { sql } = needed(postgres);
          const tables = ["blobs", "due", "leases"].map((name) => `${store.prefix}_${name}`);
          if ((await sql(`SELECT to_regclass('${tables[0]}')`)) === "") return [];
          const [blobs, due, leases] = tables;
          const lists = [
            `SELECT key FROM ${blobs}`,
            `SELECT list || id FROM ${due}`,
            `SELECT key FROM ${leases}`,
          ];
          return (await sql(lists.join(" UNION ALL "))).split("\n").filter((name) => name !== "");
        }
        case "s3": {
          const names: string[] = [];
          const listing = { Bucket: bucket, Prefix: store.prefix };
          for await (const { Contents = [] } of paginateListObjectsV2(
            { client: needed(s3).client },
            listing,
          )) {
            names.push(...Contents.map(({ Key = "" }) => Key));
          }
          return names;
        }
      }
    }

    return {
      createStorage: (name) => storages[name](),
      async namesIn({ records, pictures }) {
        const others = pictures === undefined ? [] : await namesOf(pictures);
        return [...(await namesOf(records)), ...others];
      },
      close,
    };
  } catch (error) {
    // Otherwise servers that did start would outlive the test.
    await Promise.allSettled(starts);
    await close();
    throw error;
  }
}

function needed<T>(server: T | undefined): T {
  if (server === undefined) throw new Error("This storage was not named when the servers were started");
  return server;
}
