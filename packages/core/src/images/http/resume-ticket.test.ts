import { expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { keysOf } from "../../../test/image-site.ts";
import { HOUR, MINUTE } from "../../../test/life-site.ts";
import { createResumeSite, type ResumeSite, VERSION } from "../../../test/resume-site.ts";
import type { TicketOptions } from "../library/upload-tickets.ts";

const SIZE = PNG.length;
const OTHER = Buffer.concat([PNG, Buffer.from("!")]);

/** A service that permits tickets alone. */
const start = () => createResumeSite({ authorize: () => false, cors: { origins: ["https://app.example"] } });

async function searchOf(site: ResumeSite, terms: TicketOptions = {}): Promise<string> {
  const { url } = await site.images.ticket(terms);
  return url.slice(url.indexOf("?") + 1);
}

/** The path and the query in the address of a new upload. */
function addressOf(location: unknown): [path: string, search: string] {
  const { pathname, search } = new URL(String(location));
  return [pathname, search.slice(1)];
}

test("a ticket permits an upload in pieces, whose address carries it, and the last reply has no PIN", async () => {
  const site = start();
  expect((await site.begin(SIZE)).status).toBe(403);
  const search = await searchOf(site, { name: "Of the ticket", owner: "anna" });
  const begun = await site.begin(SIZE, undefined, { search });
  expect(begun.status).toBe(201);
  const [path, again] = addressOf(begun.headers.Location);
  expect(again).toBe(search);
  expect((await site.head(path)).status).toBe(403);
  expect((await site.head(path, { search: await searchOf(site, { owner: "anna" }) })).status).toBe(404);
  await site.piece(path, 0, PNG.subarray(0, 9), { search });
  const last = await site.piece(path, 9, PNG.subarray(9), { search });
  expect([
    last.status,
    last.headers["X-Service-Image-Pin"],
    last.headers["X-Service-Image-Edit-Url"],
  ]).toEqual([204, undefined, undefined]);
  const id = String(last.headers["X-Service-Image-Id"]);
  expect(await site.images.find(id)).toMatchObject({ name: "Of the ticket" });
  expect(await site.images.usage("anna")).toEqual({ images: 1, bytes: SIZE });
});

test("a ticket with pin gives the PIN with the last piece and never again", async () => {
  const site = start();
  const search = await searchOf(site, { pin: true });
  const [path] = addressOf((await site.begin(SIZE, undefined, { search })).headers.Location);
  expect((await site.piece(path, 0, PNG, { search })).headers["X-Service-Image-Pin"]).toBeTruthy();
  const later = await site.head(path, { search });
  expect([later.status, later.headers["X-Service-Image-Pin"]]).toEqual([200, undefined]);
  expect(later.headers["X-Service-Image-Id"]).toBeTruthy();
  const headers = { accept: "application/json" };
  const repeated = await site.piece(path, SIZE, Buffer.alloc(0), { search, headers });
  expect([repeated.status, repeated.json.id]).toEqual([201, later.headers["X-Service-Image-Id"]]);
  expect(repeated.json.pin).toBeUndefined();
});

test("size and type of a ticket are checked at the creation and with the first bytes", async () => {
  const site = start();
  const small = await searchOf(site, { maxBytes: SIZE - 1 });
  expect((await site.begin(SIZE, undefined, { search: small })).status).toBe(413);
  const jpeg = await searchOf(site, { types: ["image/jpeg"] });
  expect((await site.begin(SIZE, undefined, { search: jpeg })).status).toBe(415);
  const [path] = addressOf((await site.begin(SIZE, {}, { search: jpeg })).headers.Location);
  const refused = await site.piece(path, 0, PNG, { search: jpeg });
  expect([refused.status, refused.json.detail]).toEqual([
    415,
    "The file is image/png, but the ticket accepts only image/jpeg",
  ]);
  expect((await site.head(path, { search: jpeg })).status).toBe(404);
});

test("a used ticket gives the same bytes the first image, and other bytes 409, which ends the upload", async () => {
  const site = start();
  const search = await searchOf(site);
  const send = async (bytes: Buffer) => {
    const [path] = addressOf((await site.begin(bytes.length, undefined, { search })).headers.Location);
    return { path, reply: await site.piece(path, 0, bytes, { search }) };
  };
  const first = await send(PNG);
  const same = await send(PNG);
  expect(same.reply.headers["X-Service-Image-Id"]).toBe(first.reply.headers["X-Service-Image-Id"]);
  const other = await send(OTHER);
  expect(other.reply.status).toBe(409);
  expect((await site.head(other.path, { search })).status).toBe(404);
  expect((await keysOf(site.store)).filter((key) => key.endsWith("/record"))).toHaveLength(1);
});

test("an upload that began before the end of its ticket is completed after it, and no other begins", async () => {
  const site = start();
  const expiresAt = site.clock.now + 12 * MINUTE;
  for (const terms of [{}, { expiresAt }]) {
    const search = await searchOf(site, { ...terms, expiresIn: "10m" });
    const [path] = addressOf((await site.begin(SIZE, undefined, { search })).headers.Location);
    const before = site.clock.now;
    site.clock.now += 11 * MINUTE;
    expect((await site.begin(SIZE, undefined, { search })).status).toBe(403);
    expect((await site.piece(path, 0, PNG.subarray(0, 5), { search })).status).toBe(204);
    site.clock.now += MINUTE - 1;
    const last = await site.piece(path, 5, PNG.subarray(5), { search });
    expect([last.status, "X-Service-Image-Id" in last.headers]).toEqual([204, true]);
    expect((await site.begin(SIZE, undefined, { search })).status).toBe(403);
    site.clock.now = before;
  }
});

test("an upload that is incomplete at the expiry that its ticket gives the image gets 403, and its bytes are deleted", async () => {
  const site = start();
  const search = await searchOf(site, { expiresIn: "10m", expiresAt: site.clock.now + 12 * MINUTE });
  const [path] = addressOf((await site.begin(SIZE, undefined, { search })).headers.Location);
  site.clock.now += 12 * MINUTE;
  const late = await site.piece(path, 0, PNG, { search });
  expect(late).toMatchObject({ status: 403, json: { code: "ticket_expired" } });
  expect(await site.files()).toEqual([]);
});

test("pages of all origins may upload with a ticket, and nothing that is stored has the ticket", async () => {
  const site = start();
  const search = await searchOf(site);
  const headers = { origin: "https://any.example", "sec-fetch-site": "cross-site" };
  const begun = await site.begin(SIZE, undefined, { search, headers });
  expect([begun.status, begun.headers["Access-Control-Allow-Origin"]]).toEqual([201, "*"]);
  const [path] = addressOf(begun.headers.Location);
  const refused = await site.send("DELETE", path, { headers: { ...VERSION, ...headers } });
  expect(refused.status).toBe(403);
  const last = await site.piece(path, 0, PNG, { search, headers });
  expect([last.status, last.headers["Access-Control-Allow-Origin"]]).toEqual([204, "*"]);
  const ticket = new URLSearchParams(search).get("ticket") ?? "";
  for (const key of await keysOf(site.store)) {
    const blob = await site.store.get(key);
    if (Buffer.isBuffer(blob?.body)) expect(blob.body.includes(ticket.slice(0, 20)), key).toBe(false);
  }
});

test("the unfinished uploads of all tickets of an owner count against the owner, and those of no other", async () => {
  const site = start();
  const ownerLimits = { images: 2 };
  const begin = async (owner: string, clientIp: string) => {
    const search = await searchOf(site, { owner, ownerLimits });
    return (await site.begin(SIZE, undefined, { search, clientIp })).status;
  };
  expect(await begin("anna", "192.0.2.1")).toBe(201);
  expect(await begin("anna", "192.0.2.2")).toBe(201);
  expect(await begin("anna", "192.0.2.3")).toBe(403);
  expect(await begin("bert", "192.0.2.1")).toBe(201);
  expect(await begin("bert", "192.0.2.1")).toBe(201);
  site.clock.now += 12 * HOUR;
  await site.images.sweep();
  expect(await begin("anna", "192.0.2.3")).toBe(201);
});
