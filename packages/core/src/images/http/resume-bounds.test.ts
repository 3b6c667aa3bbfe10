import { expect, test } from "vitest";
import { type CallOptions, createCall, PNG } from "../../../test/calls.ts";
import { answerOf, keysOf } from "../../../test/image-site.ts";
import { HOUR } from "../../../test/life-site.ts";
import { createResumeSite, type ResumeSite, uploadPath, VERSION } from "../../../test/resume-site.ts";
import type { Authorize } from "../authorize.ts";

const SIZE = PNG.length;
const LIMITED = { creates: false, reads: false, edits: false, pinFailures: false } as const;

test("a client may have 100 unfinished uploads: the next gets 429, other clients do not, and room returns with each end", async () => {
  const site = createResumeSite({ rateLimits: LIMITED });
  const paths: string[] = [];
  for (let n = 0; n < 100; n++) paths.push(uploadPath(await site.begin(SIZE)));
  const refused = await site.begin(SIZE);
  expect([refused.status, refused.headers["Retry-After"]]).toEqual([429, "60"]);
  expect((await site.begin(SIZE, {}, { clientIp: "192.0.2.2" })).status).toBe(201);
  expect((await site.piece(paths[0] ?? "", 0, PNG)).status).toBe(204);
  expect((await site.send("DELETE", paths[1] ?? "")).status).toBe(204);
  expect((await site.begin(SIZE)).status).toBe(201);
  expect((await site.begin(SIZE)).status).toBe(201);
  expect((await site.begin(SIZE)).status).toBe(429);
  expect((await site.files()).length).toBe(101);
});

test("unfinished uploads have at most 20 times the bytes of the largest file, and one that took an hour gives its room back", async () => {
  const site = createResumeSite({ rateLimits: LIMITED, maxUploadBytes: SIZE });
  const paths: string[] = [];
  for (let n = 0; n < 20; n++) paths.push(uploadPath(await site.begin(SIZE)));
  site.clock.now += HOUR;
  expect((await site.begin(SIZE)).status).toBe(429);
  expect((await site.piece(paths[0] ?? "", 0, PNG)).status).toBe(204);
  expect((await site.send("DELETE", paths[1] ?? "")).status).toBe(204);
  site.clock.now += HOUR;
  expect((await site.begin(SIZE)).status).toBe(201);
  expect((await site.begin(SIZE)).status).toBe(201);
  expect((await site.begin(SIZE)).status).toBe(429);
});

test("unfinished uploads expire after twelve hours, also for a process that started later, and the sweep removes them", async () => {
  const site = createResumeSite({ rateLimits: LIMITED });
  const path = uploadPath(await site.begin(SIZE));
  await site.piece(path, 0, PNG.subarray(0, 10));
  const later = site.anotherNode();
  later.clock.now += 12 * HOUR - 1;
  await later.images.sweep();
  expect((await later.head(path)).headers["Upload-Offset"]).toBe("10");
  later.clock.now += 1;
  expect((await later.head(path)).status).toBe(404);
  await later.images.sweep();
  expect(await later.files()).toEqual([]);
  const left = (await keysOf(site.store)).filter((key) => !key.startsWith("resumable-usage/"));
  expect(left).toEqual([]);
  expect(site.errors).toEqual([]);
});

const byHeader: Authorize = ({ headers }) => {
  const { "x-owner": owner } = headers;
  if (owner === undefined) return false;
  return { owner: String(owner), limits: { images: 2, bytes: 100 } };
};
const of = (owner: string, options: CallOptions = {}): CallOptions => ({
  ...options,
  headers: { "x-owner": owner, ...options.headers },
});

test("authorize decides about the creation and each piece, and another owner's upload is none", async () => {
  const site = createResumeSite({ authorize: byHeader });
  expect((await site.begin(SIZE)).status).toBe(403);
  const path = uploadPath(await site.begin(SIZE, {}, of("anna")));
  expect((await site.piece(path, 0, PNG)).status).toBe(403);
  for (const method of ["HEAD", "PATCH", "DELETE"]) {
    expect((await site.send(method, path, of("bert"))).status).toBe(404);
  }
  const last = await site.piece(path, 0, PNG, of("anna"));
  expect(last.status).toBe(204);
  expect(await site.images.usage("anna")).toEqual({ images: 1, bytes: SIZE });
  expect(await site.images.usage("bert")).toEqual({ images: 0, bytes: 0 });
});

test("unfinished uploads count against their owner", async () => {
  const site = createResumeSite({ authorize: byHeader });
  expect((await site.begin(60, {}, of("anna"))).status).toBe(201);
  const refused = await site.begin(60, {}, of("anna"));
  expect([refused.status, refused.json.detail]).toEqual([
    403,
    "Your images may have at most 100 bytes in total: 40 bytes are left, and this image has 60 bytes",
  ]);
  expect((await site.begin(40, {}, of("anna"))).status).toBe(201);
  expect((await site.begin(0 + 1, {}, of("anna"))).status).toBe(403);
  expect((await site.begin(60, {}, of("bert"))).status).toBe(201);
});

test("a browser's request from a page of another origin is refused where the host decides", async () => {
  const site = createResumeSite({ authorize: byHeader, cors: { origins: ["https://app.example"] } });
  const from = (origin: string) => of("anna", { headers: { origin, "sec-fetch-site": "cross-site" } });
  expect((await site.begin(SIZE, {}, from("https://evil.example"))).status).toBe(403);
  const begun = await site.begin(SIZE, {}, from("https://app.example"));
  expect(begun.status).toBe(201);
  expect(begun.headers["Access-Control-Expose-Headers"]).toMatch(
    /Location.*Upload-Offset.*X-Service-Image-Pin/,
  );
  const preflight = await site.send("OPTIONS", uploadPath(begun), {
    headers: { origin: "https://app.example", "access-control-request-method": "PATCH" },
  });
  expect(preflight.headers["Access-Control-Allow-Methods"]).toBe("HEAD, PATCH, DELETE, OPTIONS");
  expect(preflight.headers["Access-Control-Allow-Headers"]).toMatch(/Tus-Resumable.*Upload-Offset/);
});

/** Sends a piece whose connection stays open after `bytes`, and returns its reply. */
function sendStalled(site: ResumeSite, path: string, bytes: Uint8Array) {
  let stop = (): void => undefined;
  let hasArrived = false;
  const call = createCall("PATCH", path, {
    headers: {
      ...VERSION,
      "upload-offset": "0",
      "content-type": "application/offset+octet-stream",
      "content-length": String(SIZE),
    },
  });
  const reply = site.images.handle({
    ...call,
    async bytes(_limits, take) {
      await take(bytes);
      hasArrived = true;
      await new Promise<void>((resolve) => {
        stop = resolve;
      });
    },
  });
  return { reply: reply.then(answerOf), stop: () => stop(), hasArrived: () => hasArrived };
}

test("a request for an upload interrupts the piece that hangs on a dead connection, and keeps what arrived", async () => {
  const site = createResumeSite();
  const path = uploadPath(await site.begin(SIZE));
  const stalled = sendStalled(site, path, PNG.subarray(0, 12));
  await expect.poll(stalled.hasArrived).toBe(true);
  expect((await site.head(path)).headers["Upload-Offset"]).toBe("12");
  expect((await stalled.reply).headers["Upload-Offset"]).toBe("12");
  stalled.stop();
  expect((await site.piece(path, 12, PNG.subarray(12))).headers["X-Service-Image-Pin"]).toBeTruthy();
});

test("of many clients that send the same piece at once, the picture comes out whole and once", async () => {
  const site = createResumeSite();
  const path = uploadPath(await site.begin(SIZE));
  const replies = await Promise.all(Array.from({ length: 20 }, () => site.piece(path, 0, PNG)));
  const statuses = new Set(replies.map(({ status }) => status));
  expect([...statuses].every((status) => [204, 409].includes(status))).toBe(true);
  const last = await site.head(path);
  expect(last.headers["X-Service-Image-Pin"]).toBeTruthy();
  expect((await keysOf(site.store)).filter((key) => key.endsWith("/record"))).toHaveLength(1);
});

test("a storage without a directory of its own needs a place for unfinished uploads", () => {
  expect(() => createResumeSite({ resumable: true })).toThrow(
    "createImages: resumable must have a directory or s3, because this storage is no directory",
  );
  expect(() => createResumeSite({ resumable: { directory: "a", s3: { bucket: "b" } } })).toThrow(
    "createImages: resumable must have a directory or s3",
  );
});
