import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type RedisServer, startRedis } from "../support/redis-server.ts";
import { type S3Access, useS3Server } from "../support/s3-server.ts";
import { type Guide, type GuideOptions, openGuide } from "./guide.ts";
import { blocksIn, chapterOf, placeOf, ROOT, readPages } from "./pages.ts";

/** Run by a test of its own, which also looks at what the commands did. */
const ELSEWHERE = { path: "docs/operating.md", chapter: "Backups" };

/** commands.long.test.ts checks that these packages exist. */
const ONLY_INSTALLS = /^(?:npm install .*\n)+$/;

const pages = (await readPages()).flatMap((page) => {
  const blocks = blocksIn([page], "sh").filter(
    (block) =>
      block.exempt === null &&
      !ONLY_INSTALLS.test(block.code) &&
      !(page.path === ELSEWHERE.path && chapterOf(page, block) === ELSEWHERE.chapter),
  );
  return blocks.length === 0 ? [] : [{ path: page.path, blocks }];
});

let redis: RedisServer;
let s3: S3Access;
let bucket: string;

beforeAll(async () => {
  [redis, s3] = await Promise.all([startRedis({ appendOnly: true }), useS3Server()]);
  bucket = await s3.createBucket();
});

afterAll(async () => {
  await redis?.close();
  await s3?.stop();
});

async function optionsOf(path: string): Promise<GuideOptions> {
  await redis.cli("FLUSHALL");
  const { accessKeyId, secretAccessKey } = s3.credentials;
  const options: GuideOptions = {
    places: [
      ["redis://:password@redis.example:6379", redis.url],
      ["redis://redis.example:6379", redis.url],
      ["redis://127.0.0.1:6379", redis.url],
      ["s3://pictures/app", `s3://${bucket}/app?endpoint=${s3.endpoint}&timeoutMs=20000`],
    ],
    env: {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      id: "A".repeat(22),
      SECRET: "s",
    },
  };
  if (path === "docs/operating.md")
    options.before =
      "curl -F imagedata=@photo.jpg http://127.0.0.1:3000/api/images.json\nnpx outrigger backup --to file:/backup/images";
  if (path === "docs/contacts.md") {
    const commit = "git -c user.name=Grace -c user.email=grace@example.com commit --allow-empty";
    options.before = `git init\n${commit} -m 1\n${commit} -m 2 --author "Bot <noreply@example.com>"`;
  }
  const [, example] = /^examples\/([^/]+)\//.exec(path) ?? [];
  if (example !== undefined) {
    const server = join(ROOT, "examples", example, "server.js");
    options.prepare = (directory) => symlink(server, join(directory, "server.js"));
  }
  return options;
}

describe.each(pages)("the commands of $path", ({ path, blocks }) => {
  let guide: Guide;

  beforeAll(async () => {
    guide = await openGuide(await optionsOf(path));
  });

  afterAll(() => guide?.close());

  test.each(blocks.map((block) => [placeOf(block), block] as const))(
    "the commands of %s succeed",
    async (_, block) => {
      await guide.run(block);
    },
  );
});
