import { createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import { type CallOptions, PNG } from "../../../test/calls.ts";
import { eventually, storedRecord } from "../../../test/image-site.ts";
import { anotherProcess, DAY, MINUTE } from "../../../test/life-site.ts";
import { holdUp, tapStore } from "../../../test/tapped-store.ts";
import {
  countImages,
  createTicketSite,
  expectNoPin,
  OTHER_FILE,
  ticketQuery,
} from "../../../test/ticket-site.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

describe("a ticket that was used", () => {
  test("gets the first reply for the same bytes, other bytes get 409, and one image is stored", async () => {
    const site = createTicketSite();
    const search = await ticketQuery(site, { pin: true });
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
      expect(await site.create({ search, file: OTHER_FILE, headers })).toMatchObject({
        status: 409,
        json: { detail: "This ticket was sent before with another upload. Use a new one." },
      });
    }
    expect(await countImages(site)).toBe(1);
  });

  test("stores one image for two uploads at once, on two processes", async () => {
    for (const [file, others] of [
      [PNG, [201, 409]],
      [OTHER_FILE, [409]],
    ] as const) {
      const store = createMemoryBlobStore();
      const held = holdUp(({ method, key }) => method === "put" && key.endsWith("/original"));
      const site = createTicketSite({ store: tapStore(store, held.tap) });
      const search = await ticketQuery(site, { pin: true });
      const slow = site.create({ search });
      await held.reached;
      const other = await anotherProcess(site, { store }).create({ search, file });
      expect(other.status).toBe(409);
      held.letGo();
      expect((await slow).status).toBe(201);
      const last = await anotherProcess(site, { store }).create({ search, file });
      expect(others).toContain(last.status);
      if (last.status === 201) expectNoPin(last);
      expect(await countImages(site)).toBe(1);
    }
  });

  test("gives the first reply, and 409 to another file, for a day after the upload, whenever it ends", async () => {
    const site = createTicketSite({ sweepEveryMs: false });
    const [search, unused] = [await ticketQuery(site), await ticketQuery(site)];
    const first = await site.create({ search });
    for (const later of [11 * MINUTE, DAY - 11 * MINUTE - 1]) {
      site.clock.now += later;
      const again = await site.create({ search });
      expect([again.status, again.json.id]).toEqual([201, first.json.id]);
      expectNoPin(again);
      expect((await site.create({ search, file: OTHER_FILE })).status).toBe(409);
      expect((await site.create({ search: unused })).json.code).toBe("ticket_expired");
    }
    site.clock.now += 1;
    for (const file of [PNG, OTHER_FILE]) {
      expect(await site.create({ search, file })).toMatchObject({
        status: 403,
        json: { code: "ticket_expired" },
      });
    }
    expect(await countImages(site)).toBe(1);
  });

  test("stores nothing after its end, though its upload failed", async () => {
    const site = createTicketSite({ renderer: createFakeRenderer(), asyncAfterMs: 0 });
    const search = await ticketQuery(site);
    const { json } = await site.create({ search });
    (await site.renderer.next()).refuse(new ServiceError("unsupported_media", "Its pixels end early."));
    await eventually(async () =>
      expect((await storedRecord(site.store, String(json.id)))?.failure).not.toBeNull(),
    );
    site.clock.now += 11 * MINUTE;
    for (const file of [PNG, OTHER_FILE])
      expect((await site.create({ search, file })).json.code).toBe("ticket_expired");
  });
});
