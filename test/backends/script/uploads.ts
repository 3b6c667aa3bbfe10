import { expect, test } from "vitest";
import type { OriginalName } from "../../matrix/originals.ts";
import { addressOf, type Created, postImage } from "../../support/service.ts";
import { fetchBytes, fetchJson } from "../fetch-bytes.ts";
import type { Stage } from "./stage.ts";

const ORIGINALS: readonly OriginalName[] = ["png", "jpg", "gif", "svg", "psd", "pdf"];
const TYPES: Record<OriginalName, string> = {
  png: "image/png",
  jpg: "image/jpeg",
  gif: "image/gif",
  svg: "image/svg+xml",
  psd: "image/x-photoshop",
  pdf: "application/pdf",
};
const HOUR_MS = 3_600_000;

/** Uploads, and their records and pictures at both services. */
export function describeUploads(stage: Stage): void {
  test.each(["png", "pdf"] as const)(
    "a %s upload is visible at once at every service, with the same bytes: a PNG unchanged, a PDF written anew",
    async (name) => {
      const { one, other, clock } = stage.deployment;
      const { bytes, type, width, height, pages } = stage.material.originals[name];
      const expiresAt = new Date(clock.now + HOUR_MS).toISOString();
      const answer = await postImage(one, bytes, type, { name: `Mein Bild ✓.${name}`, expiresAt });
      expect(answer.status).toBe(201);
      const { editUrl, pin, ...record } = (await answer.json()) as Created;
      const { id, size } = record;
      expect(answer.headers.get("location")).toBe(`${one.base}/${id}`);
      expect(answer.headers.get("x-service-image-pin")).toBe(pin);
      expect(editUrl).toBe(`${one.base}/${id}/edit?pin=${pin}`);
      expect(record).toMatchObject({
        ...{
          name: `Mein Bild ✓.${name}`,
          type,
          size: name === "png" ? bytes.length : size,
          width,
          height,
          pages,
        },
        ...{ status: "ready", agent: { name: "OutriggerTest", version: "1.0" } },
        ...{ createdAt: new Date(clock.now).toISOString(), expiresAt },
        ...{
          placeholder: expect.stringMatching(/^[A-Za-z0-9+/=]{8,36}$/),
          color: expect.stringMatching(/^#/),
        },
      });
      expect((await fetchJson(addressOf(one, id, "json"))).body).toEqual(record);
      const { url: _, links: __, ...facts } = record;
      expect((await fetchJson(addressOf(other, id, "json"))).body).toMatchObject(facts);
      const stored = name === "png" ? bytes : (await fetchBytes(addressOf(one, id, name))).bytes;
      expect(stored.length).toBe(size);
      for (const site of [one, other]) {
        const own = await fetchBytes(addressOf(site, id, name));
        expect([own.status, own.headers.get("content-type")]).toEqual([200, TYPES[name]]);
        expect(own.bytes.equals(stored)).toBe(true);
      }
      expect(await stage.deployment.keys(`${id}/`)).toEqual([`${id}/original`, `${id}/record`]);
    },
  );

  test("a picture can be read in each of the six formats, with the same bytes from both services", async () => {
    const { one, other } = stage.deployment;
    const { bytes, type } = stage.material.originals.png;
    const { id } = (await (await postImage(one, bytes, type)).json()) as Created;
    for (const format of ORIGINALS) {
      const path = `${format}?resize=40x40`;
      const made = await fetchBytes(addressOf(one, id, path));
      expect([format, made.status, made.headers.get("content-type")]).toEqual([format, 200, TYPES[format]]);
      expect(made.headers.get("content-length")).toBe(String(made.bytes.length));
      const kept = await fetchBytes(addressOf(other, id, path));
      expect([format, kept.headers.get("etag")]).toEqual([format, made.headers.get("etag")]);
      expect(kept.bytes.equals(made.bytes), format).toBe(true);
    }
    // Renditions are written while the reply is being sent.
    const renditions = async () =>
      (await stage.deployment.keys(`${id}/`)).filter((key) => key.startsWith(`${id}/renditions/`));
    await expect.poll(renditions).toHaveLength(6);
  });
}
