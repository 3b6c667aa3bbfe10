import { createCipheriv, createHmac, randomBytes } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { type CallOptions, createCall, PNG } from "../../../test/calls.ts";
import { createFakeRenderer } from "../../../test/fake-renderer.ts";
import type { SiteOptions } from "../../../test/image-site.ts";
import { type Answer, createSite, type ImageSite, keysOf } from "../../../test/image-site.ts";
import { anotherProcess, willingRenderer } from "../../../test/life-site.ts";
import { holdUp, tapStore } from "../../../test/tapped-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import type { TicketOptions } from "../library/upload-tickets.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const OTHER = Buffer.concat([PNG, Buffer.from("another picture")]);
const MINUTE = 60_000;

/** A site that permits nothing without a ticket. */
function siteOf(options: SiteOptions = {}): ImageSite {
  return createSite({ renderer: willingRenderer(), authorize: () => false, ...options });
}

async function searchFor(site: ImageSite, terms?: TicketOptions): Promise<string> {
  const { url } = await site.images.ticket(terms);
  return url.slice(url.indexOf("?") + 1);
}

async function create(site: ImageSite, terms?: TicketOptions, options: CallOptions = {}): Promise<Answer> {
  return site.create({ ...options, search: await searchFor(site, terms) });
}

const imagesIn = async (site: ImageSite) =>
  (await keysOf(site.store)).filter((key) => key.endsWith("/record")).length;

const SECRETS = ["X-Service-Image-Pin", "X-Service-Image-Edit-Url"];

function expectNoPin({ json, headers }: Answer): void {
  expect(json).not.toHaveProperty("pin");
  expect(json).not.toHaveProperty("editUrl");
  expect(Object.keys(headers).filter((name) => SECRETS.includes(name))).toEqual([]);
  expect(JSON.stringify([json, headers])).not.toMatch(/edit-form|\/edit/);
}

describe("an upload with a ticket", () => {
  test("needs no permission of the host, and its reply has neither PIN nor edit address", async () => {
    const authorize = vi.fn(() => false);
    const site = siteOf({ authorize });
    const answer = await create(site);
    expect([answer.status, authorize.mock.calls]).toEqual([201, []]);
    expect(answer.headers).toMatchObject({ Location: answer.json.url, "X-Service-Image-Id": answer.json.id });
    expectNoPin(answer);
    const text = await site.send("POST", "/api/images.txt", { search: await searchFor(site) });
    expect([text.status, text.text]).toEqual([201, expect.stringMatching(/^https:\S+\n$/)]);
    expectNoPin(text);
    expect((await site.create()).status).toBe(403);
    expect((await site.create({ search: "ticket=" })).status).toBe(403);
  });

  test("takes owner, name and expiry from the ticket, whatever the form says", async () => {
    const stored = vi.fn();
    const site = siteOf({ onStored: stored });
    const terms = { owner: "anna", name: "Receipt", expiresAt: "2026-03-05T00:00:00.000Z" };
    const uploadFields = { name: "mine", expiresAt: "2026-03-09T00:00:00.000Z", owner: "eve" };
    const { json } = await create(site, terms, { uploadFields });
    expect(json).toMatchObject({ name: "Receipt", expiresAt: terms.expiresAt });
    expect(stored.mock.calls[0]?.[0]).toMatchObject({ owner: "anna" });
    const free = await create(site, {}, { uploadFields: { name: "mine" } });
    expect(free.json).toMatchObject({ name: "mine", expiresAt: "2026-03-02T12:00:00.000Z" });
    expect((await create(site, { expiresAt: null })).json.expiresAt).toBeNull();
  });

  test("counts against the limits of its owner at the time of the upload", async () => {
    const site = siteOf();
    const terms: TicketOptions = { owner: "anna", ownerLimits: { images: 1 } };
    const [first, second] = [await searchFor(site, terms), await searchFor(site, terms)];
    expect((await site.create({ search: first })).status).toBe(201);
    expect(await site.create({ search: second, file: OTHER })).toMatchObject({
      status: 403,
      json: { detail: expect.stringContaining("At most 1 images") },
    });
    const limited = siteOf({ ownerLimits: { bytes: 3 } });
    expect((await create(limited, { owner: "anna" })).status).toBe(403);
    expect((await create(limited)).status).toBe(201);
  });

  test("of another type than its own gets 415 that names those", async () => {
    const site = siteOf();
    const terms: TicketOptions = { types: ["image/jpeg", "application/photoshop"] };
    for (const fileType of ["image/png", "application/octet-stream"]) {
      const answer = await create(site, terms, { fileType });
      expect([answer.status, answer.json.detail]).toEqual([
        415,
        "The file is image/png, but the ticket accepts only image/jpeg, image/x-photoshop",
      ]);
    }
    expect((await create(site, { types: ["IMAGE/PNG"] })).status).toBe(201);
    expect(await imagesIn(site)).toBe(1);
  });

  test("is checked for type and size before its bytes are read", async () => {
    const site = siteOf({ maxUploadBytes: 1000 });
    for (const [maxBytes, limit] of [
      [10, 10],
      [5000, 1000],
    ]) {
      const search = await searchFor(site, { types: ["image/jpeg"], ...(maxBytes ? { maxBytes } : {}) });
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
    const site = siteOf({ rateLimits: { creates: 2 } });
    const statuses = [];
    for (let turn = 0; turn < 3; turn++) statuses.push((await create(site, { owner: "anna" })).status);
    expect(statuses).toEqual([201, 201, 429]);
    expect((await create(site, { owner: "anna" }, { clientIp: "192.0.2.9" })).status).toBe(201);
  });

  test("is imported from a URL only where clients may do that", async () => {
    const fields = { url: "http://127.0.0.1:9/picture.png" };
    expect((await create(siteOf(), {}, { fields })).status).toBe(415);
    expect((await create(siteOf({ importUrls: true }), {}, { fields })).status).toBe(400);
  });
});

describe("a ticket that was used", () => {
  test("gets the first reply for the same bytes, other bytes get 409, and one image is stored", async () => {
    const site = siteOf();
    const search = await searchFor(site, { pin: true });
    const first = await site.create({ search, headers: { "idempotency-key": "one" } });
    expect(first.json.pin).toMatch(/^[0-9A-Z]{16}$/);
    expect(first.headers["X-Service-Image-Edit-Url"]).toBe(first.json.editUrl);
    const changes: CallOptions[] = [
      {},
      { uploadFields: { name: "other" } },
      { clientIp: "192.0.2.7", headers: { "user-agent": "Other/2" } },
      { headers: { "idempotency-key": "two" } },
      { fileType: "application/octet-stream" },
    ];
    for (const change of changes) {
      const again = await site.create({ search, ...change });
      expect([again.status, again.json.id]).toEqual([201, first.json.id]);
      expectNoPin(again);
    }
    for (const headers of [{}, { "idempotency-key": "one" }]) {
      expect(await site.create({ search, file: OTHER, headers })).toMatchObject({
        status: 409,
        json: { detail: "This ticket was sent before with another upload. Use a new one." },
      });
    }
    expect(await imagesIn(site)).toBe(1);
  });

  test("stores one image for two uploads at once, on two processes", async () => {
    for (const [file, others] of [
      [PNG, [201, 409]],
      [OTHER, [409]],
    ] as const) {
      const store = createMemoryBlobStore();
      const held = holdUp(({ method, key }) => method === "put" && key.endsWith("/original"));
      const site = siteOf({ store: tapStore(store, held.tap) });
      const search = await searchFor(site, { pin: true });
      const slow = site.create({ search });
      await held.reached;
      const other = await anotherProcess(site, { store }).create({ search, file });
      expect(other.status).toBe(409);
      held.letGo();
      expect((await slow).status).toBe(201);
      const last = await anotherProcess(site, { store }).create({ search, file });
      expect(others).toContain(last.status);
      if (last.status === 201) expectNoPin(last);
      expect(await imagesIn(site)).toBe(1);
    }
  });

  test("can be used again after an upload that was refused", async () => {
    const renderer = createFakeRenderer();
    const site = siteOf({ renderer });
    const search = await searchFor(site);
    const refused = site.create({ search });
    (await renderer.next()).refuse(new ServiceError("unsupported_media", "Its pixels end early."));
    expect((await refused).status).toBe(415);
    const second = site.create({ search, file: OTHER });
    (await renderer.next()).accept();
    expect((await second).status).toBe(201);
  });
});

describe("a ticket", () => {
  test("is accepted until 30 seconds after its end, then gets 403 with the code ticket_expired", async () => {
    const site = siteOf();
    const search = await searchFor(site, { expiresIn: "10m" });
    site.clock.now += 10 * MINUTE + 30_000;
    expect((await site.create({ search })).status).toBe(201);
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

  test("that is cut, changed, forged or sealed under another label gets 403 with the code ticket_invalid", async () => {
    const site = siteOf();
    const ticket = (await searchFor(site, { maxBytes: 10 })).slice("ticket=".length);
    const flipped = [...ticket].map((letter, at) => {
      return ticket.slice(0, at) + (letter === "A" ? "B" : "A") + ticket.slice(at + 1);
    });
    const id = "A".repeat(22);
    const address = await site.images.address(id, { format: "jpg" }, { read: true, until: 2e12 });
    const terms = JSON.stringify({ untilMs: 2e12, pin: true });
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
      sealedBy("outrigger image read signature, version 1", terms),
      sealedBy("outrigger image address signature, version 1", terms),
      sealedBy("outrigger upload ticket, version 1", terms, "fedcba9876543210fedcba9876543210"),
      (await searchFor(siteOf({ secret: "f".repeat(32) }))).slice("ticket=".length),
    ];
    for (const wrong of wrongs) {
      const answer = await site.create({ search: `ticket=${encodeURIComponent(wrong)}` });
      expect([answer.status, answer.json.code]).toEqual([403, "ticket_invalid"]);
      expect(answer.text).not.toContain(wrong);
    }
    const right = await site.create({
      search: `ticket=${sealedBy("outrigger upload ticket, version 1", terms)}`,
    });
    expect(right.status).toBe(201);
    expect(await imagesIn(site)).toBe(1);
  });

  test("shows neither its owner nor its other terms", async () => {
    const search = await searchFor(siteOf(), { owner: "anna@example.com", name: "Receipt" });
    const text = Buffer.from(search.slice("ticket=".length), "base64url").toString("latin1");
    expect(search + text).not.toMatch(/anna|Receipt|owner|untilMs/);
  });

  test("is accepted with every secret of the list, and no longer without its own", async () => {
    const store = createMemoryBlobStore();
    const site = siteOf({ store });
    const [search, unused] = [await searchFor(site), await searchFor(site)];
    const first = await site.create({ search });
    const fresh = "fedcba9876543210fedcba9876543210";
    const both = anotherProcess(site, { store, secret: [fresh, SECRET] });
    expect((await both.create({ search })).json.id).toBe(first.json.id);
    expect((await both.create({ search: unused, file: OTHER })).status).toBe(201);
    const later = anotherProcess(site, { store, secret: [fresh] });
    expect((await later.create({ search })).json.code).toBe("ticket_invalid");
  });

  test("permits nothing but an upload", async () => {
    const site = siteOf();
    const search = await searchFor(site, { pin: true });
    const { json } = await site.create({ search });
    for (const [method, path] of [
      ["GET", `/api/images/${json.id}.json`],
      ["DELETE", `/api/images/${json.id}.json`],
      ["POST", "/api/tickets.json"],
    ] as const) {
      expect([method, path, (await site.send(method, path, { search })).status]).toEqual([method, path, 403]);
    }
  });
});

/** A ticket made with a key of this label. */
function sealedBy(label: string, terms: string, secret = SECRET): string {
  const iv = randomBytes(12);
  const key = createHmac("sha256", secret).update(label).digest();
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  return Buffer.concat([iv, cipher.update(terms), cipher.final(), cipher.getAuthTag()]).toString("base64url");
}
