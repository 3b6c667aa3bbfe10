import { createHash } from "node:crypto";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFsBlobStore, createImageAdmin, createImages } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import type { MigrationReport } from "@outrigger/ops";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ran, served, temporaryDirectory } from "../packages/server/test/outrigger-process.ts";
import { startHost } from "./support/hosts.ts";
import { jpegPhoto, pngPhoto } from "./support/pictures.ts";
import { postWithHeaders, RESPOND_ASYNC } from "./support/post-with-headers.ts";
import { type S3Access, useS3Server } from "./support/s3-server.ts";
import { type Created, upload } from "./support/service.ts";

const SVG = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="9" height="9"/></svg>',
);
const KEY = { "Idempotency-Key": "the-one-upload" };
const SHORT_LIFE_MS = 3_600_000;
/** Nothing happens by itself: what is pending stays so, what is due is not swept. */
const RESTING = {
  asyncAfterMs: false,
  rateLimits: false,
  sweepEveryMs: false,
  processUploads: false,
} as const;

/** What a server keeps of everything that can become of an image. */
interface Stock {
  pictures: Created[];
  owned: Created;
  withheld: Created;
  deleted: Created;
  keyed: Created;
  pending: Created;
  /** Expires soon, and no sweep has deleted it yet. */
  short: Created;
  /** Under {@link KEY}. */
  keyedBytes: Buffer;
  pendingBytes: Buffer;
}

let s3: S3Access;

beforeAll(async () => {
  s3 = await useS3Server();
});

afterAll(() => s3?.stop());

async function migrated(
  cwd: string,
  [from, to]: [from: string, to: string],
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<MigrationReport & { pins: string }> {
  const { stdout, ...rest } = await ran(cwd, ["migrate", "--from", from, "--to", to, "--json", ...args], env);
  expect(rest).toMatchObject({ code: 0 });
  return JSON.parse(stdout);
}

/** Stores one of each, and what is served of it. */
async function stock(cwd: string): Promise<{ stocked: Stock; before: Record<string, unknown> }> {
  await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify({ images: RESTING }));
  const keyedBytes = await pngPhoto(60, 40);
  const pendingBytes = await jpegPhoto(80, 60);
  const owned = await addOwned(join(cwd, "data"));
  return served(cwd, {}, async (base) => {
    const site = { base };
    const pictures = [
      await upload(site, await jpegPhoto(300, 200), "image/jpeg"),
      await upload(site, SVG, "image/svg+xml"),
    ];
    const withheld = await upload(site, await pngPhoto(50, 30), "image/png");
    const deleted = await upload(site, await pngPhoto(50, 31), "image/png");
    await fetch(`${base}/api/images/${deleted.id}.json`, { method: "DELETE", headers: pinOf(deleted) });
    const keyed = (await (await postWithHeaders(site, keyedBytes, "image/png", KEY)).json()) as Created;
    const accepted = await postWithHeaders(site, pendingBytes, "image/jpeg", RESPOND_ASYNC);
    expect(accepted.status).toBe(202);
    const pending = (await accepted.json()) as Created;
    const expiresAt = new Date(Date.now() + SHORT_LIFE_MS).toISOString();
    const short = await upload(site, await pngPhoto(50, 32), "image/png", { expiresAt });
    const withhold = await ran(cwd, ["images", "withhold", "--reason", "Case 4711", withheld.id]);
    expect(withhold).toMatchObject({ code: 0 });
    const stocked = { pictures, owned, withheld, deleted, keyed, pending, short, keyedBytes, pendingBytes };
    return { stocked, before: await answersOf(base, stocked) };
  });
}

/** Owners are named in code. */
async function addOwned(directory: string): Promise<Created> {
  const images = createImages({
    ...RESTING,
    storage: createFsBlobStore({ directory }),
    renderer: createRenderer({ timeoutMs: 60_000 }),
    authorize: () => ({ owner: "alice" }),
  });
  const host = await startHost("node:http", images);
  const owned = await upload(host, await pngPhoto(50, 33), "image/png");
  await host.close();
  await images.close();
  return owned;
}

function pinOf({ pin }: Created): Record<string, string> {
  return { "X-Service-Image-Pin": pin };
}

/** Everything that is served of the stock, whatever the address of the server. */
async function answersOf(base: string, { pictures, owned, withheld, deleted, pending }: Stock) {
  const pages = ["json", "png", "jpg?resize=20x"];
  const all = [...pictures, owned, withheld, deleted, pending];
  const answers: Record<string, unknown> = {};
  for (const [index, { id }] of all.entries()) {
    for (const path of [`/${id}`, ...pages.map((page) => `/api/images/${id}.${page}`)]) {
      const response = await fetch(base + path);
      const bytes = Buffer.from(await response.arrayBuffer());
      const isText = /json|text/.test(response.headers.get("content-type") ?? "");
      const content = isText
        ? bytes
            .toString()
            .replaceAll(base, "")
            .replace(/"instance".*/, "")
        : createHash("sha256").update(bytes).digest("hex");
      // That of a record is its revision in the store.
      const etag = isText ? null : response.headers.get("etag");
      answers[`${index} ${path}`] = [response.status, etag, content];
    }
  }
  return answers;
}

function statusesIn(answers: Record<string, unknown>): Set<unknown> {
  return new Set(Object.values(answers).map((answer) => (Array.isArray(answer) ? answer[0] : answer)));
}

it("migrations to S3 and back keep every response, PIN, owner, idempotency key, pending upload and date", async () => {
  const cwd = await temporaryDirectory();
  const { stocked, before } = await stock(cwd);
  expect(statusesIn(before)).toEqual(new Set([200, 202, 410, 451]));

  const bucket = await s3.createBucket();
  const aws = {
    AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
  };
  const pictures = `s3://${bucket}/pictures?endpoint=${s3.endpoint}&timeoutMs=10000`;
  const inBucket = JSON.stringify({
    records: `s3://${bucket}/records?endpoint=${s3.endpoint}&timeoutMs=10000`,
    originals: pictures,
    renditions: pictures,
  });
  const env = { ...aws, OUTRIGGER_SECRET_FILE: join(cwd, "secret") };

  const toS3 = await migrated(cwd, ["file:./data", inBucket], ["--secret-file", "secret"], aws);
  expect(toS3).toMatchObject({ isComplete: true, damaged: [], failed: [], images: 8 });
  expect(toS3.pins).toContain(`OUTRIGGER_SECRET_FILE=${join(cwd, "secret")}`);
  expect((await stat(join(cwd, "secret"))).mode & 0o777).toBe(0o600);
  const inS3 = { ...env, OUTRIGGER_STORAGE: inBucket };
  expect(await served(cwd, inS3, (base) => answersOf(base, stocked))).toEqual(before);

  expect(await migrated(cwd, [inBucket, "file:./back"], [], env)).toMatchObject({
    isComplete: true,
    keys: toS3.keys,
    pins: expect.stringContaining("now keeps the secret of the old server"),
  });
  const back = ["--data", "back"];
  await served(cwd, {}, (base) => expectAlive(base, stocked, before), back);
  await expectLooksAfter(cwd, stocked);
});

/** What a server without any secret but its directory's does with the stock. */
async function expectAlive(base: string, stocked: Stock, before: Record<string, unknown>): Promise<void> {
  expect(await answersOf(base, stocked)).toEqual(before);
  const [picture, other] = stocked.pictures;
  if (picture === undefined || other === undefined) throw new Error("There are no pictures");
  const address = `${base}/api/images/${picture.id}.json`;
  const body = JSON.stringify({ name: "renamed" });
  const json = { "Content-Type": "application/json" };
  const wrong = await fetch(address, { method: "PATCH", body, headers: { ...json, ...pinOf(other) } });
  expect(wrong.status).toBe(403);
  const right = await fetch(address, { method: "PATCH", body, headers: { ...json, ...pinOf(picture) } });
  expect([right.status, await right.json()]).toEqual([200, expect.objectContaining({ name: "renamed" })]);
  const again = await postWithHeaders({ base }, stocked.keyedBytes, "image/png", KEY);
  expect(((await again.json()) as Created).id).toBe(stocked.keyed.id);
}

async function expectLooksAfter(cwd: string, { pending, pendingBytes, short }: Stock): Promise<void> {
  await writeFile(
    join(cwd, "outrigger.config.json"),
    JSON.stringify({ images: { ...RESTING, processUploads: true } }),
  );
  const admin = createImageAdmin({
    storage: createFsBlobStore({ directory: join(cwd, "back") }),
    now: () => Date.now() + SHORT_LIFE_MS,
  });
  expect((await admin.usage("alice")).images).toBe(1);
  const original = createFsBlobStore({ directory: join(cwd, "back") });
  expect(await original.stat(`${short.id}/original`)).not.toBeNull();
  // The other is the one that was deleted: when to forget it is noted by this look.
  expect(await admin.sweep()).toMatchObject({ looked: 2, failed: 0 });
  expect(await original.stat(`${short.id}/original`)).toBeNull();
  await original.close();
  await admin.close();
  const processed = async (base: string) => {
    const status = async () => (await (await fetch(`${base}/api/images/${pending.id}.json`)).json()).status;
    await expect.poll(status).toBe("ready");
    return Buffer.from(await (await fetch(`${base}/${pending.id}`)).arrayBuffer());
  };
  const picture = await served(cwd, {}, processed, ["--data", "back"]);
  expect(picture.subarray(0, 3)).toEqual(pendingBytes.subarray(0, 3));
}
