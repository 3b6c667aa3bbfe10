import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { created, type SiteOptions } from "../../../test/image-site.ts";
import { createLifeSite } from "../../../test/life-site.ts";
import { createFsBlobStore } from "../../stores/fs/fs-blob-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

/** Larger than a memory cache entry. */
const LARGE = Buffer.concat([PNG, randomBytes(3 * 2 ** 20)]);
const ACCEL = { header: "X-Accel-Redirect", prefix: "/files/" } as const;
const SENDFILE = { header: "X-Sendfile" } as const;

const directories: string[] = [];

afterEach(async () => {
  for (const directory of directories.splice(0))
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
});

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "outrigger-sendfile-"));
  directories.push(directory);
  return directory;
}

/** A site on a directory with one image, whose bytes are read as `.png`. */
async function imageOn(options: SiteOptions, { file = LARGE, name = "data" } = {}) {
  const directory = join(newDirectory(), name);
  const site = createLifeSite({ store: createFsBlobStore({ directory }), ...options });
  const { id, pin } = created(await site.create({ file }));
  const get = (headers: Record<string, string> = {}, suffix = ".png", search = "") =>
    site.send("GET", suffix === "" ? `/${id}` : `/api/images/${id}${suffix}`, { headers, search });
  return { site, id, pin, directory, get };
}

test("a GET of a large original gets the path of its file, all headers and no body", async () => {
  const { site, id, directory, get } = await imageOn({ sendfile: ACCEL, cacheTag: "Cache-Tag" });
  for (const [suffix, path] of [
    [".png", `/api/images/${id}.png`],
    ["", `/${id}`],
  ] as const) {
    const { status, text, headers } = await get({}, suffix);
    const { "X-Accel-Redirect": place, "Content-Length": length, ...others } = headers;
    expect([status, text, length]).toEqual([200, "", "0"]);
    const [, file = ""] = /^\/files\/(.*)$/.exec(String(place)) ?? [];
    expect(file).toMatch(new RegExp(`^${id.slice(0, 2)}/${id}/original@/[0-9a-f]{16}\\.1$`));
    expect((await readFile(join(directory, "blobs", file))).equals(LARGE)).toBe(true);
    const head = await site.send("HEAD", path);
    expect(head.headers).toEqual({
      ...others,
      "Accept-Ranges": "bytes",
      "Content-Length": String(LARGE.length),
    });
  }
});

test("X-Sendfile carries the percent-encoded absolute path of the file", async () => {
  const { directory, get } = await imageOn({ sendfile: SENDFILE }, { name: "my 100% #pictures? ü" });
  const value = String((await get()).headers["X-Sendfile"]);
  expect(value).toMatch(/my%20100%25%20%23pictures%3F%20%C3%BC\/blobs\//);
  expect(decodeURIComponent(value).startsWith(`${directory}/`)).toBe(true);
  expect((await readFile(decodeURIComponent(value))).equals(LARGE)).toBe(true);
});

describe("the service sends the bytes itself", () => {
  test.each<[string, Record<string, string>]>([
    ["If-Match", { "if-match": "*" }],
    ["If-None-Match", { "if-none-match": '"another"' }],
    ["If-Modified-Since", { "if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT" }],
    ["If-Unmodified-Since", { "if-unmodified-since": "Fri, 01 Jan 2038 00:00:00 GMT" }],
    ["If-Range", { "if-range": '"another"', range: "bytes=0-9" }],
  ])("to a request with %s", async (_name, headers) => {
    const answer = await (await imageOn({ sendfile: ACCEL })).get(headers);
    expect([answer.status, answer.headers["X-Accel-Redirect"]]).toEqual([200, undefined]);
    expect(answer.headers["Content-Length"]).toBe(String(LARGE.length));
  });

  test("of a small original and of a rendition", async () => {
    const small = await imageOn({ sendfile: ACCEL }, { file: PNG });
    const large = await imageOn({ sendfile: ACCEL });
    for (const answer of [
      await small.get(),
      await large.get({}, ".jpg"),
      await large.get({}, ".png", "resize=9x9"),
    ]) {
      expect([answer.status, answer.headers["X-Accel-Redirect"]]).toEqual([200, undefined]);
      expect(answer.text.length).toBeGreaterThan(0);
    }
  });

  test("whatever header of a proxy the client sends, where the option is not set", async () => {
    const { get } = await imageOn({});
    const plain = await get();
    const names = ["x-sendfile-type", "x-accel-redirect", "x-sendfile", "x-accel-mapping"];
    for (const name of names) {
      expect(await get({ [name]: name === "x-sendfile-type" ? "X-Accel-Redirect" : "/=/files/" })).toEqual(
        plain,
      );
    }
  });
});

test("a range is the proxy's, and one beyond the end gets 416", async () => {
  const { get } = await imageOn({ sendfile: ACCEL });
  const part = await get({ range: "bytes=10-19" });
  expect([part.status, part.headers["Content-Range"], part.text]).toEqual([200, undefined, ""]);
  expect(part.headers["X-Accel-Redirect"]).toMatch(/^\/files\//);
  const beyond = await get({ range: `bytes=${LARGE.length}-` });
  expect([beyond.status, beyond.headers["X-Accel-Redirect"]]).toEqual([416, undefined]);
});

test("no reply names a file once the image is withheld, deleted or expired", async () => {
  const withheld = await imageOn({ sendfile: ACCEL });
  await withheld.site.images.withhold(withheld.id, { reason: "By order of the court." });
  const deleted = await imageOn({ sendfile: ACCEL });
  await deleted.site.images.remove(deleted.id);
  const expired = await imageOn({ sendfile: ACCEL });
  expired.site.clock.now += 2 * 86_400_000;
  for (const [{ get }, status] of [
    [withheld, 451],
    [deleted, 410],
    [expired, 410],
  ] as const) {
    const answer = await get();
    expect([answer.status, answer.headers["X-Accel-Redirect"]]).toEqual([status, undefined]);
  }
});

test("no reply names a file if the image ends while its path is read", async () => {
  const store = createFsBlobStore({ directory: newDirectory() });
  let end = async () => {};
  const { site, id, get } = await imageOn({
    sendfile: ACCEL,
    store: {
      ...store,
      async localPath(key: string) {
        await end();
        return store.localPath(key);
      },
    } as typeof store,
  });
  end = () => site.images.remove(id);
  const answer = await get();
  expect([answer.status, answer.headers["X-Accel-Redirect"]]).toEqual([410, undefined]);
  expect(site.errors).toEqual([]);
});

test("sendfile needs originals in a directory", () => {
  const memory = createMemoryBlobStore();
  expect(() => createLifeSite({ store: memory, sendfile: SENDFILE })).toThrow(
    "sendfile needs originals in a directory, as of createFsBlobStore",
  );
});

test.each(["files/", "/files", "/", "/a b/", "/a/../b/", "/a//b/", "/a%2f/", "/f?/", "@files"])(
  "the prefix of X-Accel-Redirect must not be %j",
  (prefix) => {
    expect(() => createLifeSite({ sendfile: { ...ACCEL, prefix } })).toThrow(
      "sendfile.prefix must be a path that begins and ends with a slash",
    );
  },
);
