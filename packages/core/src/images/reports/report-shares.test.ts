import { expect, test } from "vitest";
import { created, type ImageSite } from "../../../test/image-site.ts";
import { createLifeSite, MINUTE } from "../../../test/life-site.ts";
import type { ImageReport } from "./reports.ts";

async function reportsOf({ images }: ImageSite, state?: "open" | "decided"): Promise<ImageReport[]> {
  const found: ImageReport[] = [];
  for await (const report of images.reports.list({ state })) found.push(report);
  return found;
}

function report(site: ImageSite, fields: Record<string, string>, clientIp = "192.0.2.1") {
  return site.send("POST", "/api/reports.json", { fields, clientIp });
}

test("no texts of other clients displace the report of a victim, and each client keeps its last text", async () => {
  const site = createLifeSite({ reports: true });
  const { id } = created(await site.create());
  const junk = async (clientIp: string) => {
    for (let count = 0; count < 30; count++) {
      const fields = {
        id,
        reason: "other",
        statement: `${clientIp} ${count}`,
        contact: `a${count}@x.example`,
      };
      expect((await report(site, fields, clientIp)).status).toBe(201);
    }
  };
  await junk("192.0.2.1");
  const victim = { id, reason: "intimate_image", statement: "That is me.", contact: "me@acme.example" };
  await report(site, victim, "198.51.100.7");
  await junk("2001:db8:0:1::1");
  await junk("2001:db8:0:1::2");
  const [found] = await reportsOf(site);
  expect(found).toMatchObject({ count: 91, reasons: ["other", "intimate_image"] });
  expect(found?.statements).toEqual(["That is me.", "192.0.2.1 29", "2001:db8:0:1::2 29"]);
  expect(found?.contacts).toEqual(["me@acme.example", "a29@x.example"]);
  expect(String((await site.store.get(`reports/${id}`))?.body)).not.toContain('"client":"198.51.100.7"');
});

test("a report whose texts a full case cannot keep answers 429 with Retry-After, and grave ones have places of their own", async () => {
  const site = createLifeSite({ reports: true });
  const { id } = created(await site.create());
  const send = (at: number, reason: string) =>
    report(site, { id, reason, statement: `${reason} ${at}` }, `198.51.100.${at}`);
  const statuses = [];
  for (let at = 0; at < 100; at++) statuses.push((await send(at, "other")).status);
  const acknowledged = statuses.filter((status) => status === 201).length;
  expect(statuses).toEqual([
    ...Array.from({ length: acknowledged }, () => 201),
    ...Array.from({ length: 100 - acknowledged }, () => 429),
  ]);
  const full = await send(101, "violence");
  expect([full.status, full.headers["Retry-After"]]).toEqual([429, "3600"]);
  expect((await report(site, { id, reason: "other" }, "198.51.100.102")).status).toBe(201);
  expect((await send(0, "other")).status).toBe(201);
  expect((await send(103, "child_abuse")).status).toBe(201);
  const [found] = await reportsOf(site);
  expect(found?.count).toBe(acknowledged + 3);
  expect(found?.statements).toHaveLength(acknowledged + 1);
  expect(found?.statements[0]).toBe("child_abuse 103");
});

test("reports are listed by grave reasons, then by the number of different clients, then by time", async () => {
  const site = createLifeSite({ reports: true });
  const ids = [];
  for (let count = 0; count < 4; count++) ids.push(created(await site.create()).id);
  const [early = "", many = "", grave = "", late = ""] = ids;
  for (let count = 0; count < 5; count++) await report(site, { id: early, reason: "other" });
  site.clock.now += MINUTE;
  for (const last of [1, 2, 3]) await report(site, { id: many, reason: "other" }, `192.0.2.${last}`);
  for (const id of [late, grave]) {
    site.clock.now += MINUTE;
    await report(site, { id, reason: id === grave ? "child_abuse" : "privacy" });
  }
  for (const state of ["open", undefined] as const) {
    expect((await reportsOf(site, state)).map(({ id }) => id)).toEqual([grave, many, early, late]);
  }
});

test("a client sends at most 20 reports a day, of all images together", async () => {
  const site = createLifeSite({ reports: true, rateLimits: { reports: 1000 } });
  const ids = [created(await site.create()).id, created(await site.create()).id];
  const send = (at: number, clientIp?: string) =>
    report(site, { id: ids[at % 2] ?? "", reason: "other" }, clientIp);
  for (let at = 0; at < 20; at++) expect((await send(at)).status).toBe(201);
  const refused = await send(20);
  expect([refused.status, Number(refused.headers["Retry-After"]) > 80_000]).toEqual([429, true]);
  expect((await send(21, "192.0.2.2")).status).toBe(201);
});
