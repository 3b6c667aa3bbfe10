import { describe, expect, test, vi } from "vitest";
import type { CallOptions } from "../../../test/calls.ts";
import type { ImageSite } from "../../../test/image-site.ts";
import { createLifeSite } from "../../../test/life-site.ts";
import { textPages } from "../../../test/text-pages.ts";
import { createByTicket, createTicketSite, OTHER_FILE, ticketQuery } from "../../../test/ticket-site.ts";
import type { TicketOptions } from "../library/upload-tickets.ts";

const MINUTE = 60_000;

describe("images.ticket", () => {
  test("gives an address below publicUrl and its end", async () => {
    const site = createTicketSite({ publicUrl: "https://example.com/img" });
    const { url, until } = await site.images.ticket({ expiresIn: "90s" });
    expect(url).toMatch(/^https:\/\/example\.com\/img\/api\/images\.json\?ticket=[\w-]+$/);
    expect(until).toBe("2026-03-01T12:01:30.000Z");
    expect(Date.parse((await site.images.ticket()).until)).toBe(site.clock.now + 10 * MINUTE);
    expect((await site.images.ticket({ expiresIn: 43_200_000 })).until).toBe("2026-03-02T00:00:00.000Z");
  });

  test("gives another address for each call with the same terms", async () => {
    const site = createTicketSite();
    const tickets = new Set(await Promise.all([1, 2, 3].map(() => ticketQuery(site, { name: "a" }))));
    expect(tickets.size).toBe(3);
  });

  test.each<[object, RegExp]>([
    [{ expiresIn: "13h" }, /ticket: expiresIn must be a whole number from 1000 to 43200000, or a time/],
    [{ expiresIn: 999 }, /expiresIn must be/],
    [{ expiresIn: "soon" }, /expiresIn must be/],
    [{ expiresIn: Number.NaN }, /expiresIn must be/],
    [{ maxBytes: 0 }, /maxBytes must be a whole number from 1/],
    [{ types: [] }, /types must be a list of at least one media type/],
    [{ pin: "yes" }, /pin must be true or false/],
    [{ owner: "" }, /owner must be a name/],
    [{ ownerLimits: { images: -1 } }, /ownerLimits of ticket/],
    [{ expires: "10m" }, /expires is no option of ticket/],
  ])("rejects %j with a TypeError that names the option", async (terms, message) => {
    const call = createTicketSite().images.ticket(terms as TicketOptions);
    await expect(call).rejects.toThrow(message);
    await expect(call).rejects.toBeInstanceOf(TypeError);
  });

  test.each<[TicketOptions, RegExp]>([
    [{ types: ["image/webp"] }, /types must be of image\/png, /],
    [{ types: ["text/html"] }, /types must be of/],
    [{ name: "n".repeat(256) }, /at most 255/],
    [{ expiresAt: "tomorrow" }, /ISO 8601/],
    [{ expiresIn: "1h", expiresAt: "2026-03-01T13:00:00Z" }, /after the end of the ticket/],
    [{ expiresAt: "2036-03-01T13:00:00Z" }, /at most 365 days from now/],
  ])("rejects %j with bad_request", async (terms, message) => {
    const call = createTicketSite().images.ticket(terms);
    await expect(call).rejects.toMatchObject({
      code: "bad_request",
      message: expect.stringMatching(message),
    });
  });
});

describe("an upload with a ticket from a page of another origin", () => {
  const headers = {
    origin: "https://elsewhere.example",
    "sec-fetch-site": "cross-site",
    cookie: "session=1",
  };

  test("is permitted, and its page may read the reply without credentials", async () => {
    const site = createTicketSite();
    const search = await ticketQuery(site);
    const preflight = { ...headers, "access-control-request-method": "POST" };
    const asked = await site.send("OPTIONS", "/api/images.json", { search, headers: preflight });
    expect(asked.headers).toMatchObject({
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Allow-Methods": "POST, OPTIONS",
    });
    const answer = await site.create({ search, headers });
    expect([answer.status, answer.headers["Access-Control-Allow-Origin"]]).toEqual([201, "*"]);
    expect(answer.headers).not.toHaveProperty("Access-Control-Allow-Credentials");
    const refused = await site.create({ search: "ticket=x", headers });
    expect([refused.status, refused.headers["Access-Control-Allow-Origin"]]).toEqual([403, "*"]);
  });

  test("with a text that is no ticket, spends no turn of the visitor whose browser sends it", async () => {
    const site = createTicketSite({ authorize: () => true, rateLimits: { creates: 1 } });
    for (let turn = 0; turn < 3; turn++) {
      for (const search of ["ticket=x", await ticketQuery(createTicketSite())])
        expect((await site.create({ search, headers })).json.code).toBe("ticket_invalid");
    }
    expect((await site.create()).status).toBe(201);
    expect((await site.create({ search: await ticketQuery(site) })).status).toBe(429);
  });

  test("leaves all other requests to the option cors", async () => {
    const created = () => ({ html: "created", contentSecurityPolicy: "default-src 'none'" });
    const site = createLifeSite({ authorize: () => true, pages: { ...textPages, created } });
    const search = await ticketQuery(site);
    const plain = await site.create({ headers });
    expect([plain.status, plain.headers["Access-Control-Allow-Origin"]]).toEqual([403, undefined]);
    for (const path of ["/api/tickets.json", "/"]) {
      const answer = await site.send("POST", path, { search, headers });
      expect([answer.status, answer.headers["Access-Control-Allow-Origin"]]).toEqual([403, undefined]);
    }
    const { origin } = headers;
    const listed = createTicketSite({ cors: { origins: [origin], credentials: true } });
    expect((await createByTicket(listed, {}, { headers })).headers).toMatchObject({
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Allow-Credentials": "true",
    });
    const other = { ...headers, origin: "https://third.example" };
    expect((await createByTicket(listed, {}, { headers: other })).headers).toMatchObject({
      "Access-Control-Allow-Origin": "*",
    });
  });
});

describe("POST /api/tickets.json", () => {
  const ask = (site: ImageSite, fields?: Record<string, unknown>, options: CallOptions = {}) =>
    site.send("POST", "/api/tickets.json", { ...(fields && { fields }), ...options });

  test("gives a client that may upload a ticket of its owner, with the owner's limits", async () => {
    const stored = vi.fn();
    const authorize = vi.fn(() => ({ owner: "anna", limits: { images: 1 } }));
    const site = createTicketSite({ authorize, onStored: stored });
    const answer = await ask(site, { expiresIn: "1m", owner: "eve", ownerLimits: {}, other: 1 });
    expect([answer.status, answer.json.until]).toEqual([200, "2026-03-01T12:01:00.000Z"]);
    expect(answer.headers).toMatchObject({ "Cache-Control": "no-store" });
    expect(authorize.mock.calls).toMatchObject([[{ path: "/api/tickets.json" }, "create"]]);
    const { origin, pathname, search } = new URL(String(answer.json.url));
    expect([origin, pathname]).toEqual(["https://pictures.example", "/api/images.json"]);
    expect((await site.create({ search: search.slice(1) })).status).toBe(201);
    expect(stored.mock.calls[0]?.[0]).toMatchObject({ owner: "anna" });
    const second = new URL(String((await ask(site)).json.url)).search.slice(1);
    expect((await site.create({ search: second, file: OTHER_FILE })).status).toBe(403);
    expect(authorize).toHaveBeenCalledTimes(2);
  });

  test("refuses a client that may not upload, and pages of other origins", async () => {
    for (const fields of [{}, { expiresIn: "13h" }])
      expect((await ask(createTicketSite(), fields)).status).toBe(403);
    const cross = { origin: "https://elsewhere.example", "sec-fetch-site": "cross-site" };
    const site = createTicketSite({ authorize: () => true });
    expect((await ask(site, {}, { headers: cross })).status).toBe(403);
    expect((await ask(site, {})).status).toBe(200);
    expect((await site.send("PATCH", "/api/tickets.json")).status).toBe(405);
    expect((await site.send("POST", "/api/tickets.json/")).status).toBe(200);
  });

  test.each<[Record<string, unknown>, string]>([
    [
      { expiresIn: "13h" },
      'expiresIn must be a whole number from 1000 to 43200000, or a time such as "30s" or "7d"',
    ],
    [{ maxBytes: "5 MP" }, 'maxBytes must be a whole number from 1, or a size such as "25MB"'],
    [{ types: "image/png" }, "types must be a list of at least one media type, such as image/png"],
    [{ pin: 1 }, "pin must be true or false"],
    [{ name: 7 }, "name must be a string"],
    [{ expiresAt: null }, "expiresAt must be a date at most 365 days from now"],
  ])("answers %j with 400 and the reason", async (fields, detail) => {
    const answer = await ask(createTicketSite({ authorize: () => true }), fields);
    expect([answer.status, answer.json.detail]).toEqual([400, detail]);
  });

  test("answers a body that is no JSON with 415", async () => {
    const headers = { "content-type": "application/x-www-form-urlencoded", "content-length": "5" };
    expect((await ask(createTicketSite({ authorize: () => true }), {}, { headers })).status).toBe(415);
  });
});
