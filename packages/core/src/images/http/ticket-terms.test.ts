import { createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import { eventually } from "../../../test/image-site.ts";
import { countImages, createTicketSite, OTHER_FILE, ticketQuery } from "../../../test/ticket-site.ts";
import { ServiceError } from "../../errors.ts";
import type { TicketOptions } from "../library/upload-tickets.ts";

const MINUTE = 60_000;

describe("a ticket", () => {
  test("tells its terms to a client without another permission, and spends nothing", async () => {
    const site = createTicketSite({ maxUploadBytes: 1000 });
    const look = async (search: string, options = {}) =>
      site.send("GET", "/api/tickets.json", { search, ...options });
    const free = { until: "2026-03-01T12:10:00.000Z", expiresAt: null, name: null, types: null };
    for (const [terms, told] of [
      [{}, { ...free, maxBytes: null }],
      [
        { expiresAt: null, maxBytes: 5000, pin: true },
        { ...free, expiresAt: "never", maxBytes: 1000 },
      ],
      [
        { expiresIn: "1h", name: "Receipt", types: ["image/PNG", "application/photoshop"], maxBytes: 10 },
        {
          ...{ ...free, until: "2026-03-01T13:00:00.000Z", name: "Receipt" },
          ...{ types: ["image/png", "image/x-photoshop"], maxBytes: 10 },
        },
      ],
      [
        { owner: "anna", ownerLimits: { images: 1 }, expiresAt: "2026-03-05T00:00:00Z" },
        { ...free, expiresAt: "2026-03-05T00:00:00.000Z", maxBytes: null },
      ],
    ] satisfies [TicketOptions, object][]) {
      const search = await ticketQuery(site, terms);
      for (let turn = 0; turn < 2; turn++) {
        const answer = await look(search, { headers: { origin: "https://elsewhere.example" } });
        expect([answer.status, answer.json]).toEqual([200, { ...told, used: false }]);
        expect(answer.headers).toMatchObject({
          ...{ "Cache-Control": "no-store", "Access-Control-Allow-Origin": "*" },
          "Content-Type": "application/json; charset=utf-8",
        });
      }
      const head = await site.send("HEAD", "/api/tickets.json", { search });
      expect([head.status, head.text]).toEqual([200, ""]);
    }
    expect(await countImages(site)).toBe(0);
  });

  test("that was used says so, until another file may take its place", async () => {
    const site = createTicketSite({ renderer: createFakeRenderer(), asyncAfterMs: 0, tombstoneDays: 0 });
    const search = await ticketQuery(site, { expiresIn: "12h", pin: true });
    const used = async () => (await site.send("GET", "/api/tickets.json", { search })).json.used;
    const failing = await site.create({ search });
    expect([failing.status, await used()]).toEqual([202, true]);
    (await site.renderer.next()).refuse(new ServiceError("unsupported_media", "Its pixels end early."));
    await eventually(async () => expect(await used()).toBe(false));
    const { status, json } = await site.create({ search, file: OTHER_FILE });
    expect([status, json.id === failing.json.id]).toEqual([202, false]);
    (await site.renderer.next()).accept();
    expect(await used()).toBe(true);
    await site.images.remove(String(json.id));
    await site.images.sweep();
    expect(await used()).toBe(false);
  });

  test("that is wrong, late or missing gets 403 instead of its terms, used or not", async () => {
    const site = createTicketSite();
    const [search, used] = [await ticketQuery(site), await ticketQuery(site)];
    expect((await site.create({ search: used })).status).toBe(201);
    const look = async (given: string) => {
      const { status, json } = await site.send("GET", "/api/tickets.json", { search: given });
      return [status, json.code];
    };
    for (const wrong of ["", "ticket=", "ticket=x", search.slice(0, -1)])
      expect(await look(wrong)).toEqual([403, "ticket_invalid"]);
    site.clock.now += 10 * MINUTE + 30_000;
    expect((await look(search))[0]).toBe(200);
    site.clock.now += 1;
    for (const late of [search, used]) expect(await look(late)).toEqual([403, "ticket_expired"]);
  });

  test("counts as a read where its terms are asked for", async () => {
    const site = createTicketSite({ rateLimits: { reads: 1, creates: 1 } });
    const search = await ticketQuery(site);
    const look = async () => (await site.send("GET", "/api/tickets.json", { search })).status;
    expect([await look(), await look()]).toEqual([200, 429]);
    expect((await site.create({ search })).status).toBe(201);
  });
});
