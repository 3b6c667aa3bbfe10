import { createCipheriv, createHmac, randomBytes } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { createCall } from "../../../test/calls.ts";
import { anotherProcess, createLifeSite } from "../../../test/life-site.ts";
import { textPages } from "../../../test/text-pages.ts";
import {
  countImages,
  createByTicket,
  createTicketSite,
  expectNoPin,
  OTHER_FILE,
  ticketQuery,
} from "../../../test/ticket-site.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import type { TicketOptions } from "../library/upload-tickets.ts";
import { readIdentity } from "../store/store-identity.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const MINUTE = 60_000;

describe("an upload with a ticket", () => {
  test("needs no permission of the host, and its reply has neither PIN nor edit address", async () => {
    const authorize = vi.fn(() => false);
    const site = createTicketSite({ authorize });
    const answer = await createByTicket(site);
    expect([answer.status, authorize.mock.calls]).toEqual([201, []]);
    expect(answer.headers).toMatchObject({ Location: answer.json.url, "X-Service-Image-Id": answer.json.id });
    expectNoPin(answer);
    const text = await site.send("POST", "/api/images.txt", { search: await ticketQuery(site) });
    expect([text.status, text.text]).toEqual([201, expect.stringMatching(/^https:\S+\n$/)]);
    expectNoPin(text);
    expect((await site.create()).status).toBe(403);
    expect((await site.create({ search: "ticket=" })).status).toBe(403);
  });

  test("takes owner, name and expiry from the ticket, whatever the form says", async () => {
    const stored = vi.fn();
    const site = createTicketSite({ onStored: stored });
    const terms = { owner: "anna", name: "Receipt", expiresAt: "2026-03-05T00:00:00.000Z" };
    const uploadFields = { name: "mine", expiresAt: "2026-03-09T00:00:00.000Z", owner: "eve" };
    const { json } = await createByTicket(site, terms, { uploadFields });
    expect(json).toMatchObject({ name: "Receipt", expiresAt: terms.expiresAt });
    expect(stored.mock.calls[0]?.[0]).toMatchObject({ owner: "anna" });
    const free = await createByTicket(site, {}, { uploadFields: { name: "mine" } });
    expect(free.json).toMatchObject({ name: "mine", expiresAt: "2026-03-02T12:00:00.000Z" });
    expect((await createByTicket(site, { expiresAt: null })).json.expiresAt).toBeNull();
  });

  test("counts against the limits of its owner at the time of the upload", async () => {
    const site = createTicketSite();
    const terms: TicketOptions = { owner: "anna", ownerLimits: { images: 1 } };
    const [first, second] = [await ticketQuery(site, terms), await ticketQuery(site, terms)];
    expect((await site.create({ search: first })).status).toBe(201);
    expect(await site.create({ search: second, file: OTHER_FILE })).toMatchObject({
      status: 403,
      json: { detail: expect.stringContaining("At most 1 images") },
    });
    const limited = createTicketSite({ ownerLimits: { bytes: 3 } });
    expect((await createByTicket(limited, { owner: "anna" })).status).toBe(403);
    expect((await createByTicket(limited)).status).toBe(201);
  });

  test("of another type than its own gets 415 that names those", async () => {
    const site = createTicketSite();
    const terms: TicketOptions = { types: ["image/jpeg", "application/photoshop"] };
    for (const fileType of ["image/png", "application/octet-stream"]) {
      const answer = await createByTicket(site, terms, { fileType });
      expect([answer.status, answer.json.detail]).toEqual([
        415,
        "The file is image/png, but the ticket accepts only image/jpeg, image/x-photoshop",
      ]);
    }
    expect((await createByTicket(site, { types: ["IMAGE/PNG"] })).status).toBe(201);
    expect(await countImages(site)).toBe(1);
  });

  test("is checked for type and size before its bytes are read", async () => {
    const site = createTicketSite({ maxUploadBytes: 1000 });
    for (const [maxBytes, limit] of [
      [10, 10],
      [5000, 1000],
    ]) {
      const search = await ticketQuery(site, { types: ["image/jpeg"], ...(maxBytes ? { maxBytes } : {}) });
      const call = createCall("POST", "/api/images.json", { search });
      const upload = vi.fn(call.upload);
      await site.images.handle({ ...call, upload });
      const { maxFileBytes, checkType } = upload.mock.calls[0]?.[0] ?? {};
      expect(maxFileBytes).toBe(limit);
      expect(() => checkType?.("image/png")).toThrow("accepts only image/jpeg");
      for (const type of ["image/jpeg", "", "application/octet-stream", "text/html"]) checkType?.(type);
    }
  });

  test("takes its turns as the client that sends it, not as the owner", async () => {
    const site = createTicketSite({ rateLimits: { creates: 2 } });
    const statuses = [];
    for (let turn = 0; turn < 3; turn++)
      statuses.push((await createByTicket(site, { owner: "anna" })).status);
    expect(statuses).toEqual([201, 201, 429]);
    expect((await createByTicket(site, { owner: "anna" }, { clientIp: "192.0.2.9" })).status).toBe(201);
  });

  test("is imported from a URL only where clients may do that", async () => {
    const fields = { url: "http://127.0.0.1:9/picture.png" };
    expect((await createByTicket(createTicketSite(), {}, { fields })).status).toBe(415);
    expect((await createByTicket(createTicketSite({ importUrls: true }), {}, { fields })).status).toBe(400);
  });
});

describe("a ticket", () => {
  test("is accepted until 30 seconds after its end, then gets 403 with the code ticket_expired", async () => {
    const site = createTicketSite();
    const [used, search] = [await ticketQuery(site), await ticketQuery(site, { expiresIn: "10m" })];
    site.clock.now += 10 * MINUTE + 30_000;
    expect((await site.create({ search: used })).status).toBe(201);
    site.clock.now += 1;
    const late = await site.create({ search });
    expect(late).toMatchObject({
      status: 403,
      headers: { "Content-Type": "application/problem+json; charset=utf-8" },
      json: { code: "ticket_expired", detail: expect.stringContaining("2026-03-01T12:10:00.000Z") },
    });
    expect((await site.send("POST", "/api/images.txt", { search })).text).toMatch(
      /^403 Forbidden: The ticket exp/,
    );
  });

  test("that is cut, changed, forged, of another store or sealed under another label gets 403 with the code ticket_invalid", async () => {
    const site = createTicketSite();
    const ticket = (await ticketQuery(site, { maxBytes: 10 })).slice("ticket=".length);
    const flipped = [...ticket].map((letter, at) => {
      return ticket.slice(0, at) + (letter === "A" ? "B" : "A") + ticket.slice(at + 1);
    });
    const id = "A".repeat(22);
    const address = await site.images.address(id, { format: "jpg" }, { read: true, until: 2e12 });
    const terms = JSON.stringify({ untilMs: 2e12, pin: true });
    const { id: storeId = "" } = (await readIdentity(site.store))?.identity ?? {};
    expect(storeId).not.toBe("");
    const wrongs = [
      ...flipped,
      ticket.slice(0, -1),
      ticket.slice(1),
      `${ticket}A`,
      `${ticket}=`,
      ` ${ticket}`,
      "x",
      "A".repeat(20_000),
      new URL(address, "https://x.example").searchParams.get("s") ?? "",
      Buffer.from(terms).toString("base64url"),
      sealedBy("outrigger image read signature, version 1", terms, storeId),
      sealedBy("outrigger image address signature, version 1", terms, storeId),
      sealedBy("outrigger upload ticket, version 1", terms, storeId, "fedcba9876543210fedcba9876543210"),
      sealedBy("outrigger upload ticket, version 1", terms, ""),
      (await ticketQuery(createTicketSite())).slice("ticket=".length),
    ];
    for (const wrong of wrongs) {
      const answer = await site.create({ search: `ticket=${encodeURIComponent(wrong)}` });
      expect([answer.status, answer.json.code]).toEqual([403, "ticket_invalid"]);
      expect(answer.text).not.toContain(wrong);
    }
    const right = await site.create({
      search: `ticket=${sealedBy("outrigger upload ticket, version 1", terms, storeId)}`,
    });
    expect(right.status).toBe(201);
    expect(await countImages(site)).toBe(1);
  });

  test("shows neither its owner nor its other terms", async () => {
    const search = await ticketQuery(createTicketSite(), { owner: "anna@example.com", name: "Receipt" });
    const text = Buffer.from(search.slice("ticket=".length), "base64url").toString("latin1");
    expect(search + text).not.toMatch(/anna|Receipt|owner|untilMs/);
  });

  test("is accepted with every secret of the list, and no longer without its own", async () => {
    const store = createMemoryBlobStore();
    const site = createTicketSite({ store });
    const [search, unused] = [await ticketQuery(site), await ticketQuery(site)];
    const first = await site.create({ search });
    const fresh = "fedcba9876543210fedcba9876543210";
    const both = anotherProcess(site, { store, secret: [fresh, SECRET] });
    expect((await both.create({ search })).json.id).toBe(first.json.id);
    expect((await both.create({ search: unused, file: OTHER_FILE })).status).toBe(201);
    const later = anotherProcess(site, { store, secret: [fresh] });
    expect((await later.create({ search })).json.code).toBe("ticket_invalid");
  });

  test("permits nothing but an upload", async () => {
    const page = () => ({ html: "page", contentSecurityPolicy: "default-src 'none'" });
    const pages = { ...textPages, edit: page, created: page };
    const site = createLifeSite({ authorize: () => false, pages });
    const allowing = site.another({ authorize: () => true, renderer: site.renderer });
    const search = await ticketQuery(site, { pin: true });
    const { json } = await site.create({ search });
    const edited = { name: "New", pin: json.pin, action: "update" };
    for (const [method, path, allowed, fields] of [
      ["GET", `/api/images/${json.id}.json`, 200],
      ["GET", `/api/images/${json.id}.png`, 200],
      ["GET", `/${json.id}/edit`, 200],
      ["POST", `/${json.id}/edit`, 303, edited],
      ["PATCH", `/api/images/${json.id}.json`, 200, edited],
      ["POST", "/api/tickets.json", 200],
      ["POST", "/", 201],
      ["DELETE", `/api/images/${json.id}.json`, 204],
    ] as const) {
      const options = { search, ...(fields && { fields }) };
      const statuses = [await site.send(method, path, options), await allowing.send(method, path, options)];
      expect([method, path, ...statuses.map(({ status }) => status)]).toEqual([method, path, 403, allowed]);
    }
  });
});

/** A ticket made with a key of this label. */
function sealedBy(label: string, terms: string, storeId: string, secret = SECRET): string {
  const iv = randomBytes(12);
  const key = createHmac("sha256", secret).update(label).digest();
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(storeId));
  return Buffer.concat([iv, cipher.update(terms), cipher.final(), cipher.getAuthTag()]).toString("base64url");
}
