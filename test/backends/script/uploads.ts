import { expect, test } from "vitest";
import { addressOf, type Created, postImage } from "../../support/service.ts";
import { fetchBytes, fetchJson } from "../fetch-bytes.ts";
import type { Stage } from "./stage.ts";

const TYPES = { png: "image/png", jpg: "image/jpeg", pdf: "application/pdf" };
const HOUR_MS = 3_600_000;

/** Uploads, and their records and pictures at both services. */
export function describeUploads(stage: Stage): void {
  test("an upload is visible at once at every service, with the same record and bytes", async () => {
    const { one, other, clock } = stage.deployment;
    const { small } = stage.material;
    const type = "image/png";
    const expiresAt = new Date(clock.now + HOUR_MS).toISOString();
    const answer = await postImage(one, small, type, { name: "Mein Bild ✓.png", expiresAt });
    expect(answer.status).toBe(201);
    const { editUrl, pin, ...record } = (await answer.json()) as Created;
    const { id } = record;
    expect(answer.headers.get("location")).toBe(`${one.base}/${id}`);
    expect(answer.headers.get("x-service-image-pin")).toBe(pin);
    expect(editUrl).toBe(`${one.base}/${id}/edit?pin=${pin}`);
    expect(record).toMatchObject({
      ...{
        name: "Mein Bild ✓.png",
        type,
        size: small.length,
        width: 60,
        height: 50,
        pages: 1,
        status: "ready",
      },
      ...{ agent: { name: "OutriggerTest", version: "1.0" } },
      ...{ createdAt: new Date(clock.now).toISOString(), expiresAt },
      placeholder: expect.stringMatching(/^[A-Za-z0-9+/=]{8,36}$/),
      color: expect.stringMatching(/^#/),
    });
    expect((await fetchJson(addressOf(one, id, "json"))).body).toEqual(record);
    const { url: _, links: __, ...facts } = record;
    expect((await fetchJson(addressOf(other, id, "json"))).body).toMatchObject(facts);
    for (const site of [one, other]) {
      const own = await fetchBytes(addressOf(site, id, "png"));
      expect([own.status, own.headers.get("content-type")]).toEqual([200, type]);
      expect(own.bytes.equals(small)).toBe(true);
    }
    expect(await stage.deployment.keys(`${id}/`)).toEqual([`${id}/original`, `${id}/record`]);
  });

  test("a picture can be read in other formats, with the same bytes from both services", async () => {
    const { one, other } = stage.deployment;
    const { id } = (await (await postImage(one, stage.material.small, "image/png")).json()) as Created;
    for (const [format, contentType] of Object.entries(TYPES)) {
      const path = `${format}?resize=40x40`;
      const made = await fetchBytes(addressOf(one, id, path));
      expect([format, made.status, made.headers.get("content-type")]).toEqual([format, 200, contentType]);
      expect(made.headers.get("content-length")).toBe(String(made.bytes.length));
      const kept = await fetchBytes(addressOf(other, id, path));
      expect([format, kept.headers.get("etag")]).toEqual([format, made.headers.get("etag")]);
      expect(kept.bytes.equals(made.bytes), format).toBe(true);
    }
    // Renditions are written while the reply is being sent.
    const renditions = async () =>
      (await stage.deployment.keys(`${id}/`)).filter((key) => key.startsWith(`${id}/renditions/`));
    await expect.poll(renditions).toHaveLength(3);
  });
}
