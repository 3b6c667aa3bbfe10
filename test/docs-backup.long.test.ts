import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createFsBlobStore } from "@outrigger/core";
import { migrateStorage, readBackupManifest } from "@outrigger/ops";
import { createRedisBlobStore } from "@outrigger/redis";
import { createS3BlobStore } from "@outrigger/s3";
import { createSqlSuppressionList, openDatabase } from "@outrigger/sql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocksIn, chapterOf, readPage } from "./documents/pages.ts";
import { freePort } from "./support/listen.ts";
import { bytesOf, opened } from "./support/migration.ts";
import { type PostgresServer, startPostgres } from "./support/postgres-server.ts";
import { programs, run } from "./support/programs.ts";
import { type RedisServer, startRedis } from "./support/redis-server.ts";
import { type S3Access, useS3Server } from "./support/s3-server.ts";
import { stockDirectory } from "./support/stocked-directory.ts";

const page = await readPage("docs/operating.md");
const blocks = blocksIn([page], "sh")
  .filter((block) => chapterOf(page, block) === "Backups")
  .map(({ code }) => code);
const BIN = fileURLToPath(new URL("../packages/server/bin/outrigger.js", import.meta.url));
const IMAGES = 3;

let place: string;
let redis: RedisServer;
let s3: S3Access;
let postgres: PostgresServer;
let redisPort: number;
let ids: string[];
/** What stands in the page, and what is there in truth; in this order. */
let places: [shown: string, real: string][];

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), "outrigger-docs-backup-"));
  [redis, s3, postgres] = await Promise.all([
    startRedis({ appendOnly: true }),
    useS3Server(),
    startPostgres(),
  ]);
  redisPort = await freePort();
  const data = join(place, "data");
  ids = await stockDirectory(data, IMAGES, 500);
  for (const directory of ["backup", "srv", "redis-new"]) await mkdir(join(place, directory));
  await writeFile(join(place, "secret-file"), "the secret of the service, 32 bytes\n", { mode: 0o600 });
  const bucket = await s3.createBucket();
  const { endpoint, credentials } = s3;
  const from = createFsBlobStore({ directory: data });
  const pictures = createS3BlobStore({
    endpoint,
    credentials,
    bucket,
    prefix: "pictures/",
    timeoutMs: 20_000,
  });
  for (const to of [createRedisBlobStore({ url: redis.url }), pictures]) {
    expect(await migrateStorage({ from, to, source: "docs" })).toMatchObject({ isComplete: true });
    await to.close();
  }
  await from.close();
  for (const name of ["people", "people_copy"]) await postgres.createDatabase(name);
  const people = postgres.url.replace(/postgres$/, "people");
  for (const url of [people, `file:${join(data, "lookup.db")}`]) await addSuppression(url);
  const bucketUrl = (prefix: string) => `"s3://${bucket}/${prefix}?endpoint=${endpoint}&timeoutMs=20000"`;
  places = [
    ["npx outrigger", `"${process.execPath}" "${BIN}"`],
    ["/var/lib/outrigger", data],
    ["/var/lib/redis-new", join(place, "redis-new")],
    ["/backup/", `${join(place, "backup")}/`],
    ["/srv/", `${join(place, "srv")}/`],
    ["/etc/outrigger/secret", join(place, "secret-file")],
    ["redis://redis.example:6379", `"${redis.url}?timeoutMs=20000"`],
    ["-h redis.example -p 6379", `-h 127.0.0.1 -p ${redis.port}`],
    ["6390", String(redisPort)],
    ['"s3://pictures/outrigger"', bucketUrl("pictures")],
    ["s3://backups/outrigger", bucketUrl("backups")],
    ["postgres://lookup@db.example:5432/", postgres.url.replace(/postgres$/, "")],
  ];
});

afterAll(async () => {
  await redis?.close();
  await s3?.stop();
  await postgres?.close();
  if (place !== undefined) await rm(place, { recursive: true, force: true });
});

async function addSuppression(url: string): Promise<void> {
  const database = openDatabase({ url });
  await createSqlSuppressionList(database).add(["t".repeat(43)]);
  await database.close();
}

/** Runs a block as it stands in the page, but for its places. */
async function runBlock(block: string): Promise<string> {
  const script = places.reduce((script, [shown, real]) => script.replaceAll(shown, real), block);
  const environment = [
    `export AWS_ACCESS_KEY_ID=${s3.credentials.accessKeyId} AWS_SECRET_ACCESS_KEY=${s3.credentials.secretAccessKey}`,
    `export PATH="${dirname(programs.redisServer)}:$PATH"`,
    `cd "${place}"`,
  ];
  const { stdout, stderr, status } = await run("/bin/sh", ["-e", "-c", [...environment, script].join("\n")]);
  if (status !== 0) throw new Error(`${script}\n${status}: ${stdout.toString()}${stderr}`);
  return stdout.toString();
}

/** Every image of the data directory is in another one, byte for byte. */
async function expectImages(directory: string): Promise<void> {
  const [one, other] = ["data", directory].map((name) =>
    opened(createFsBlobStore({ directory: join(place, name) })),
  );
  if (one === undefined || other === undefined) throw new Error("There are no stores");
  for (const key of ids.flatMap((id) => [`${id}/original`, `${id}/record`])) {
    expect(await bytesOf(other, key)).toEqual(await bytesOf(one, key));
  }
}

describe("the commands of docs/operating.md on backups, in order", () => {
  test("the chapter has nine command blocks", () => expect(blocks).toHaveLength(9));

  test.each(blocks.map((block) => [block.trim(), block]))("%s", async (_, block) => {
    await runBlock(block);
  });

  test("the commands have restored the images in each directory, and the databases", async () => {
    for (const directory of ["srv/restored", "srv/new", "backup/redis"]) await expectImages(directory);
    const backup = createFsBlobStore({ directory: join(place, "backup", "redis") });
    expect((await readBackupManifest(backup))?.manifest).toMatchObject({ images: IMAGES, damaged: 0 });
    await backup.close();
    expect(await postgres.sql("SELECT count(*) FROM lookup_suppressions", "people_copy")).toBe("1");
    const keys = await redis.cli("DBSIZE");
    const redisCli = join(dirname(programs.redisServer), "redis-cli");
    const answers = await run(redisCli, ["-p", String(redisPort), "DBSIZE"]);
    await run(redisCli, ["-p", String(redisPort), "SHUTDOWN", "NOSAVE"]);
    expect(answers.stdout.toString().trim()).toBe(keys.replace(/\D/g, ""));
  });
});
