import { createHash } from "node:crypto";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { createCall, PNG } from "../../../test/calls.ts";
import { answerOf, keysOf } from "../../../test/image-site.ts";
import { HOUR, MINUTE } from "../../../test/life-site.ts";
import { createResumeSite, uploadPath, VERSION } from "../../../test/resume-site.ts";
import { type Tap, tapStore } from "../../../test/tapped-store.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

const SIZE = PNG.length;

/** A site whose store fails or waits as `tap` says. */
const tapped = (tap: Tap) => createResumeSite({ store: tapStore(createMemoryBlobStore(), tap) });

function failing(isFailing: (key: string, method: string) => boolean) {
  const state = { isDown: false };
  const site = tapped(({ key, method }) => {
    if (state.isDown && isFailing(key, method)) throw new ServiceError("store_unavailable", "down");
  });
  return { site, state };
}

const imagesOf = async (site: { store: Parameters<typeof keysOf>[0] }) =>
  (await keysOf(site.store)).filter((key) => key.endsWith("/record")).length;

test.each<[string, Record<string, string>, string]>([
  ["without User-Agent", { "user-agent": "" }, ""],
  ["with a malformed Idempotency-Key", { "idempotency-key": 'a"b' }, ""],
  ["with a query that is not UTF-8", {}, "%ff"],
])(
  "a last piece %s gets 400 before a byte is stored, and the upload goes on",
  async (_what, headers, search) => {
    const site = createResumeSite();
    const path = uploadPath(await site.begin(SIZE));
    expect((await site.piece(path, 0, PNG, { headers, search })).status).toBe(400);
    expect((await site.head(path)).headers["Upload-Offset"]).toBe("0");
    expect((await site.piece(path, 0, PNG)).headers["X-Service-Image-Pin"]).toBeTruthy();
  },
);

test("a HEAD without User-Agent after storing failed gets 400 and removes nothing", async () => {
  const { site, state } = failing((key) => key.endsWith("/record"));
  const path = uploadPath(await site.begin(SIZE));
  state.isDown = true;
  expect((await site.piece(path, 0, PNG)).status).toBe(503);
  state.isDown = false;
  expect((await site.head(path, { headers: { "user-agent": "" } })).status).toBe(400);
  expect((await site.head(path)).headers["X-Service-Image-Pin"]).toBeTruthy();
});

test.each([
  ["its record", (key: string) => key.endsWith("/record")],
  [
    "the end of the upload",
    (key: string, method: string) => method === "put" && key.startsWith("due-resumable/"),
  ],
])(
  "a creation with the whole file loses nothing if the store fails at %s: it names the upload alone",
  async (_what, isFailing) => {
    const { site, state } = failing(isFailing);
    const begun = await beginFailing(site, () => {
      state.isDown = true;
    });
    expect([begun.status, begun.headers["Upload-Offset"]]).toEqual([201, undefined]);
    const path = uploadPath(begun);
    expect((await site.head(path)).status).toBe(423);
    state.isDown = false;
    const found = await site.head(path);
    expect([found.status, found.headers["Upload-Offset"]]).toEqual([200, String(SIZE)]);
    expect(found.headers["X-Service-Image-Pin"]).toBeTruthy();
    expect(await imagesOf(site)).toBe(1);
  },
);

/** Begins an upload with the whole file, and calls `fail` while its body arrives. */
async function beginFailing(site: ReturnType<typeof createResumeSite>, fail: () => void) {
  const headers = {
    ...{ ...VERSION, "upload-length": String(SIZE), "content-length": String(SIZE) },
    "content-type": "application/offset+octet-stream",
  };
  const call = createCall("POST", "/api/uploads", { headers });
  const reply = await site.images.handle({
    ...call,
    async bytes(_limits, take) {
      fail();
      await take(PNG);
    },
  });
  return answerOf(reply);
}

test("HEAD gets 423 where another request gets 429 or 503, so that a client does not begin again", async () => {
  const { site, state } = failing((key) => key.startsWith("resumable/"));
  const path = uploadPath(await site.begin(SIZE));
  state.isDown = true;
  expect((await site.send("DELETE", path)).status).toBe(503);
  expect((await site.head(path)).status).toBe(423);
  const limited = createResumeSite({ rateLimits: { reads: 1 } });
  const again = uploadPath(await limited.begin(SIZE));
  expect((await limited.head(again)).status).toBe(200);
  const refused = await limited.head(again);
  expect([refused.status, Number(refused.headers["Retry-After"]) > 0]).toEqual([423, true]);
  expect((await limited.send("DELETE", again)).status).toBe(429);
  await limited.images.close();
  expect((await limited.head(again)).status).toBe(423);
  expect((await limited.send("DELETE", again)).status).toBe(503);
});

test("the sweep waits for a request that uses an expired upload", async () => {
  const site = createResumeSite();
  const path = uploadPath(await site.begin(SIZE));
  let stop: (() => void) | undefined;
  const headers = { ...VERSION, "upload-offset": "0", "content-type": "application/offset+octet-stream" };
  const reply = site.images.handle({
    ...createCall("PATCH", path, { headers }),
    async bytes(_limits, take) {
      await take(PNG.subarray(0, 9));
      await new Promise<void>((resolve) => {
        stop = resolve;
      });
    },
  });
  await expect.poll(() => stop).toBeDefined();
  site.clock.now += 12 * HOUR + MINUTE;
  const swept = site.images.sweep();
  await delay(100);
  expect(await site.files()).toHaveLength(1);
  stop?.();
  expect((await reply)?.status).toBe(204);
  await swept;
  expect(await site.files()).toEqual([]);
  expect(site.errors).toEqual([]);
});

test("a HEAD on one node while another one finishes the upload finds the image, also without leases", async () => {
  const store = createMemoryBlobStore();
  const site = createResumeSite({ store });
  const path = uploadPath(await site.begin(SIZE));
  const images: unknown[] = [];
  const slow: BlobStore = {
    ...tapStore(store, () => undefined),
    async get(key, options) {
      const blob = await store.get(key, options);
      if (key.startsWith("resumable/") && images.length === 0) {
        images.push((await site.piece(path, 0, PNG)).headers.Location);
      }
      return blob;
    },
  };
  const found = await site.anotherNode({ store: slow }).head(path);
  expect([found.status, found.headers.Location]).toEqual([200, ...images]);
});

test("an upload whose bytes are not those that were sent is reported and removed, and becomes no image", async () => {
  const site = createResumeSite();
  const path = uploadPath(await site.begin(SIZE));
  await site.piece(path, 0, PNG.subarray(0, 9));
  const [name = ""] = await site.files();
  await appendFile(join(site.directory, name), Buffer.alloc(SIZE));
  expect((await site.head(path)).status).toBe(423);
  expect(site.errors).toMatchObject([{ code: "damaged" }]);
  expect((await site.head(path)).status).toBe(404);
  expect(await imagesOf(site)).toBe(0);
});

test("an empty piece gets the offset without a turn or a write", async () => {
  const site = createResumeSite();
  const path = uploadPath(await site.begin(SIZE));
  await site.piece(path, 0, PNG.subarray(0, 9));
  const headers = {
    ...{ ...VERSION, "upload-offset": "9", "content-length": "0" },
    "content-type": "application/offset+octet-stream",
  };
  const reply = await site.images.handle({
    ...createCall("PATCH", path, { headers }),
    bytes: () => Promise.reject(new Error("Read")),
  });
  expect([reply?.status, reply?.headers["Upload-Offset"]]).toEqual([204, "9"]);
});

test("pieces take the turns of the client that creates images, not others beside them", async () => {
  const site = createResumeSite();
  const path = uploadPath(await site.begin(SIZE));
  const clients: unknown[] = [];
  const headers = { ...VERSION, "upload-offset": "0", "content-type": "application/offset+octet-stream" };
  await site.images.handle({
    ...createCall("PATCH", path, { headers }),
    async bytes({ slot }) {
      clients.push(slot);
    },
  });
  expect(clients).toMatchObject([{ client: "192.0.2.1" }]);
});

test("of the query of a creation, only what says something of the image is stored", async () => {
  const site = createResumeSite();
  await site.begin(SIZE, undefined, { search: "access_token=secret&name=Dusk&focus=0.5,0.5" });
  const [key = ""] = (await keysOf(site.store)).filter((name) => name.startsWith("resumable/"));
  const body = (await site.store.get(key))?.body;
  expect(JSON.parse(String(body))).toMatchObject({ search: "name=Dusk&focus=0.5%2C0.5" });
});

test("first bytes in small pieces of another type get 415 before the last byte", async () => {
  const site = createResumeSite();
  const path = uploadPath(await site.begin(200_000));
  expect((await site.piece(path, 0, Buffer.from("t"))).status).toBe(204);
  const other = site.anotherNode();
  expect((await other.piece(path, 1, Buffer.alloc(65_534, "his is a text "))).status).toBe(204);
  expect((await other.head(path)).headers["Upload-Offset"]).toBe("65535");
  expect((await site.piece(path, 65_535, Buffer.alloc(100, "x"))).status).toBe(415);
  expect((await site.head(path)).status).toBe(404);
});

test.each([
  [403, false],
  [451, true],
])("the pieces of an upload whose bytes are denied with %i are removed at once", async (status, isLegal) => {
  const site = createResumeSite();
  await site.images.deny({ sha256: createHash("sha256").update(PNG).digest("hex"), reason: "No.", isLegal });
  const path = uploadPath(await site.begin(SIZE));
  expect((await site.piece(path, 0, PNG)).status).toBe(status);
  expect((await site.head(path)).status).toBe(404);
  expect(await site.files()).toEqual([]);
});
