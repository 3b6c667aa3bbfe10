import sharp from "sharp";
import { expect, test } from "vitest";
import { meanDifference, type ReadPicture, readPicture } from "../../matrix/independent-reader.ts";
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
const BEGINNINGS: Record<OriginalName, string> = {
  png: "\x89PNG\r\n\x1a\n",
  jpg: "\xff\xd8\xff",
  gif: "GIF89a",
  svg: "<svg",
  psd: "8BPS",
  pdf: "%PDF-1.",
};
const QUALITIES = ["low", "medium", "high", "max"];
const HOUR_MS = 3_600_000;

/** Uploads, and their records and pictures at both services. */
export function describeUploads(stage: Stage): void {
  test.each(ORIGINALS)(
    "a %s upload is stored unchanged, and visible at once at every service",
    async (name) => {
      const { one, other, clock } = stage.deployment;
      const { bytes, type, width, height, pages } = stage.material.originals[name];
      const expiresAt = new Date(clock.now + HOUR_MS).toISOString();
      const answer = await postImage(one, bytes, type, { name: `Mein Bild ✓.${name}`, expiresAt });
      expect(answer.status).toBe(201);
      const { editUrl, pin, ...record } = (await answer.json()) as Created;
      const { id } = record;
      expect(answer.headers.get("location")).toBe(`${one.base}/${id}`);
      expect(answer.headers.get("x-service-image-pin")).toBe(pin);
      expect(editUrl).toBe(`${one.base}/${id}/edit?pin=${pin}`);
      expect(record).toMatchObject({
        ...{ name: `Mein Bild ✓.${name}`, type, size: bytes.length, width, height, pages },
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
      for (const site of [one, other]) {
        const own = await fetchBytes(addressOf(site, id, name));
        expect([own.status, own.headers.get("content-type")]).toEqual([200, TYPES[name]]);
        expect(own.bytes.equals(bytes)).toBe(true);
      }
      expect(await stage.deployment.keys(`${id}/`)).toEqual([`${id}/original`, `${id}/record`]);
    },
  );

  test.each(ORIGINALS)(
    "%s can be read in each of the six formats, with the same bytes from both services",
    async (name) => {
      const { one, other } = stage.deployment;
      const { bytes, type, width, height } = stage.material.originals[name];
      const { id } = (await (await postImage(one, bytes, type)).json()) as Created;
      const expected = await drawn((await fetchBytes(addressOf(one, id, "png?resize=40x40"))).bytes);
      const scale = Math.min(40 / width, 40 / height);
      expect([expected.width, expected.height]).toEqual([
        Math.round(width * scale),
        Math.round(height * scale),
      ]);
      for (const format of ORIGINALS) {
        const path = `${format}?resize=40x40`;
        const made = await fetchBytes(addressOf(one, id, path));
        expect([format, made.status, made.headers.get("content-type")]).toEqual([format, 200, TYPES[format]]);
        expect(made.bytes.toString("latin1").startsWith(BEGINNINGS[format])).toBe(true);
        expect(made.headers.get("content-length")).toBe(String(made.bytes.length));
        const kept = await fetchBytes(addressOf(other, id, path));
        expect([format, kept.headers.get("etag")]).toEqual([format, made.headers.get("etag")]);
        expect(kept.bytes.equals(made.bytes), format).toBe(true);
        if (format === "psd" || format === "pdf") continue;
        // The SVG library behind sharp cannot draw GIFs in SVGs.
        const isGifInSvg = name === "gif" && format === "svg";
        const picture = await (isGifInSvg ? readPicture(made.bytes, format) : drawn(made.bytes));
        // Of 255: the error of palettes and JPEG.
        expect(meanDifference(picture, expected), format).toBeLessThan(6);
      }
      // Renditions are written while the reply is being sent.
      const renditions = async () =>
        (await stage.deployment.keys(`${id}/`)).filter(
          (key) => key.startsWith(`${id}/renditions/`) && !key.includes("/intermediate-"),
        );
      await expect.poll(renditions, { timeout: 20_000 }).toHaveLength(6);
    },
  );

  test("a JPEG can be read in four qualities and in the requested size", async () => {
    const { one, other } = stage.deployment;
    const { bytes, type } = stage.material.originals.png;
    const { id } = (await (await postImage(one, bytes, type)).json()) as Created;
    const sizes: number[] = [];
    for (const quality of QUALITIES) {
      const address = `jpg?convert=${quality}&resize=60x`;
      const { status, bytes: made } = await fetchBytes(addressOf(one, id, address));
      expect(status).toBe(200);
      const { format, width, height } = await sharp(made).metadata();
      expect({ format, width, height }).toEqual({ format: "jpeg", width: 60, height: 40 });
      expect((await fetchBytes(addressOf(other, id, address))).bytes.equals(made)).toBe(true);
      sizes.push(made.length);
    }
    expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
    expect(new Set(sizes).size).toBe(4);
    const usual = await fetchBytes(`${addressOf(one, id, "jpg")}?resize=60x`);
    expect(usual.bytes.length).toBe(sizes[2]);
    expect((await fetchJson(`${addressOf(one, id, "jpg")}?convert=best`)).status).toBe(400);
  });
}

/** Pixels on white. */
async function drawn(bytes: Buffer): Promise<ReadPicture> {
  const picture = sharp(bytes).flatten({ background: "#fff" }).removeAlpha().toColourspace("srgb");
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, rgb: data };
}
