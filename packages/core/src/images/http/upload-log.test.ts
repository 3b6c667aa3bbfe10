import { acceptAll, createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { bytesAt, created, createSite, type ImageSite, type SiteOptions } from "../../../test/image-site.ts";
import { createDiskStore } from "../../../test/life-site.ts";
import { createRemoteSite } from "../../../test/remote-site.ts";
import { createResumeSite, uploadPath } from "../../../test/resume-site.ts";
import { createTicketSite, ticketQuery } from "../../../test/ticket-site.ts";

type Line = [fields: Record<string, unknown>, message: string];

/** The options of a site, and the lines about stored images that it logs. */
function logging(options: SiteOptions = {}) {
  const lines: Line[] = [];
  const info = (...line: Line) => void (/stored|received/.test(line[1]) && lines.push(line));
  return { lines, options: { logger: { info, warn() {}, error() {} }, ...options } as SiteOptions };
}

const REQUEST = { clientIp: "203.0.113.77", headers: { "x-request-id": "7f3c-19" } };
const KNOWN = { requestId: "7f3c-19", client: "203.0.113.0/24", agent: { name: "Test", version: "1.0" } };
const willing = () => createFakeRenderer(acceptAll);

describe("the log line of an upload", () => {
  test("has request ID, network and agent, and no PIN", async () => {
    const { lines, options } = logging({ renderer: willing() });
    const { id, pin } = created(await createSite(options).create(REQUEST));
    expect(lines).toEqual([[{ id, ...KNOWN, type: "image/png", bytes: PNG.length }, "image stored"]]);
    expect(JSON.stringify(lines)).not.toContain(pin);
  });

  test.each([
    ["203.0.113.77", "full", "203.0.113.77"],
    ["203.0.113.77", "none", undefined],
    ["::ffff:203.0.113.77", "network", "203.0.113.0/24"],
    ["2001:db8:7:1234:5678::9", "network", "2001:db8:7::/48"],
    ["2001:db8:7:1234:5678::9%eth0", "full", "2001:db8:7:1234:5678:0:0:9"],
    ["", "full", undefined],
    ["not an address\n", "network", undefined],
  ] as const)(
    "has of the client %j with logClients %j the address %j",
    async (clientIp, logClients, client) => {
      const { lines, options } = logging({ renderer: willing(), logClients });
      await createSite(options).create({ clientIp });
      expect(lines[0]?.[0].client).toBe(client);
    },
  );

  test.each(["", "two words", "a\nforged line", "x".repeat(129)])(
    "omits X-Request-Id %j, which is no ID",
    async (id) => {
      const { lines, options } = logging({ renderer: willing() });
      await createSite(options).create({ headers: { "x-request-id": id } });
      expect(lines[0]?.[0].requestId).toBeUndefined();
    },
  );

  test("has the same fields for a ticket, an import and an upload in pieces", async () => {
    const ticket = logging();
    const byTicket = createTicketSite(ticket.options);
    await byTicket.create({ ...REQUEST, search: await ticketQuery(byTicket) });
    const server = await (await createRemoteSite()).serve((_req, res) => res.end(PNG));
    const origin = `127.0.0.1:${server.port}`;
    const store = createDiskStore();
    const imports = logging({ renderer: willing(), importUrls: { internalHosts: [origin] }, store });
    const importing = createSite(imports.options);
    await importing.send("POST", "/api/images.json", { ...REQUEST, fields: { url: `http://${origin}/` } });
    const pieces = logging();
    const resumable = createResumeSite(pieces.options);
    const path = uploadPath(await resumable.begin(PNG.length));
    await resumable.piece(path, 0, PNG, REQUEST);
    for (const { lines } of [ticket, imports, pieces])
      expect(lines).toEqual([
        [{ id: expect.any(String), ...KNOWN, type: "image/png", bytes: PNG.length }, "image stored"],
      ]);
  });

  test("names no request for an image that the host's code adds", async () => {
    const { lines, options } = logging({ renderer: willing() });
    const { id } = await createSite(options).images.add(PNG, { type: "image/png" });
    expect(lines).toEqual([[{ id, type: "image/png", bytes: PNG.length }, "image stored"]]);
  });

  test("is not repeated for a replay of the same Idempotency-Key", async () => {
    const { lines, options } = logging({ renderer: willing() });
    const site = createSite(options);
    const headers = { "idempotency-key": "8e03978e-40d5-43dd-bc93-6894a57f9324" };
    const first = created(await site.create({ headers }));
    expect(created(await site.create({ headers })).id).toBe(first.id);
    expect(lines).toHaveLength(1);
  });
});

describe("an upload answered with 202", () => {
  const later = (site: ImageSite) =>
    site.create({ ...REQUEST, headers: { ...REQUEST.headers, prefer: "respond-async" } });

  test("is logged as received with its request, and as stored by the node that finishes it", async () => {
    const first = logging();
    const site = createSite(first.options);
    const { id } = created(await later(site));
    const facts = { id, type: "image/png", bytes: PNG.length };
    expect(first.lines).toEqual([[{ ...facts, ...KNOWN }, "image received"]]);
    await site.renderer.next();
    site.kill();
    site.clock.now += 60_000;
    const second = logging({ renderer: willing() });
    site.another(second.options);
    await expect.poll(() => second.lines).toEqual([[{ ...facts, agent: KNOWN.agent }, "image stored"]]);
    expect(first.lines).toHaveLength(1);
  });

  test("keeps no address in the store", async () => {
    const site = createSite({ renderer: createFakeRenderer(), logClients: "full" });
    created(await later(site));
    const { keys } = await site.store.list("");
    const blobs = await Promise.all(keys.map((key) => bytesAt(site.store, key)));
    expect(blobs.join("\n")).toContain('"agent":{"name":"Test"');
    expect(blobs.join("\n")).not.toMatch(/203\.0\.113|7f3c-19/);
  });
});
