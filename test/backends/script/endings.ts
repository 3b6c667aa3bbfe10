import { expect, test } from "vitest";
import { addressOf, type Created, type Site, upload } from "../../support/service.ts";
import { BROWSER, fetchBytes } from "../fetch-bytes.ts";
import type { Stage } from "./stage.ts";

const DAY_MS = 86_400_000;
/** Part of the names of pictures in every storage. */
const PICTURES = /original|renditions|failures|upload/;
/** Part of the names of all stored data of images. */
const OF_IMAGES = new RegExp(`${PICTURES.source}|record`);

/** How images end, and their leftovers. */
export function describeEndings(stage: Stage): void {
  /** A picture with several stored renditions. */
  async function uploadAndRead(bytes: Buffer, fields: { expiresAt?: string } = {}): Promise<Created> {
    const { one } = stage.deployment;
    const image = await upload(one, bytes, "image/png", fields);
    for (const suffix of ["jpg?resize=60x", "png?resize=50x"]) {
      expect((await fetchBytes(addressOf(one, image.id, suffix))).status).toBe(200);
    }
    // Renditions are written while the reply is being sent. Those in a directory are not noted.
    const stored = async () =>
      (await stage.deployment.keys(`${image.id}/`)).filter((key) => !key.endsWith("/notes"));
    await expect.poll(stored).toHaveLength(4);
    const kept = (await namesOf(image)).filter((name) => PICTURES.test(name));
    expect(kept.length).toBeGreaterThan(2);
    return image;
  }

  /** The statuses of every address that shows part of an image, at both services. */
  async function statusesOf({ id }: Created): Promise<number[]> {
    const statuses = new Set<number>();
    for (const site of [stage.deployment.one, stage.deployment.other]) {
      for (const [address, init] of lookingAt(site, id)) {
        statuses.add((await fetchBytes(address, init)).status);
      }
    }
    return [...statuses].sort();
  }

  /** Except notes of replaced files in a directory, which the sweep removes a day later by the machine's clock. */
  async function namesOf({ id }: Created): Promise<string[]> {
    const names = await stage.deployment.names();
    return names.filter((name) => name.includes(id) && !name.startsWith("superseded/"));
  }

  async function expectNoPictureOf(image: Created): Promise<void> {
    expect(await stage.deployment.keys(`${image.id}/`)).toEqual([`${image.id}/record`]);
    await expect.poll(async () => (await namesOf(image)).filter((name) => PICTURES.test(name))).toEqual([]);
  }

  test("an image withheld at one service is refused by all at once, until released", async () => {
    const { one, other } = stage.deployment;
    const { small } = stage.material;
    const image = await uploadAndRead(small);
    await one.images.withhold(image.id, {
      reason: "By order of the court.",
      authority: "https://court.example/7",
    });
    expect(await statusesOf(image)).toEqual([451]);
    const refused = await fetchBytes(addressOf(other, image.id, "jpg"));
    expect(refused.headers.get("link")).toBe('<https://court.example/7>; rel="blocked-by"');
    expect(JSON.parse(refused.bytes.toString())).toMatchObject({ detail: "By order of the court." });
    const pinned = { "X-Service-Image-Pin": image.pin };
    const deletion = { method: "DELETE", headers: pinned };
    expect((await fetchBytes(addressOf(other, image.id, "json"), deletion)).status).toBe(451);
    await other.images.release(image.id);
    expect(await statusesOf(image)).toEqual([200, 206]);
    expect((await fetchBytes(addressOf(one, image.id, "png"))).bytes.equals(small)).toBe(true);
  });

  test("a deleted image is gone at every service, and none of its bytes remain", async () => {
    const { other } = stage.deployment;
    const image = await uploadAndRead(stage.material.large);
    const address = addressOf(other, image.id, "json");
    expect((await fetchBytes(`${address}?pin=${"0".repeat(16)}`, { method: "DELETE" })).status).toBe(403);
    expect(await statusesOf(image)).toEqual([200, 206]);
    expect((await fetchBytes(`${address}?pin=${image.pin}`, { method: "DELETE" })).status).toBe(204);
    expect(await statusesOf(image)).toEqual([410]);
    expect((await fetchBytes(`${address}?pin=${image.pin}`, { method: "DELETE" })).status).toBe(410);
    await expectNoPictureOf(image);
  });

  test("an image expires by the clock, the sweep removes its bytes, and later its record", async () => {
    const { one, other, clock } = stage.deployment;
    const { small } = stage.material;
    const expiresAt = new Date(clock.now + 2 * DAY_MS).toISOString();
    const [image, unseen, kept] = [
      await uploadAndRead(small, { expiresAt }),
      await uploadAndRead(small, { expiresAt }),
      await uploadAndRead(small, { expiresAt: new Date(clock.now + 300 * DAY_MS).toISOString() }),
    ];
    clock.now += 2 * DAY_MS - 1;
    await other.images.sweep();
    expect(await statusesOf(image)).toEqual([200, 206]);
    clock.now += 1;
    expect(await statusesOf(image)).toEqual([410]);
    await other.images.sweep();
    await expectNoPictureOf(image);
    await expectNoPictureOf(unseen);
    expect(await statusesOf(unseen)).toEqual([410]);
    clock.now += 30 * DAY_MS;
    await one.images.sweep();
    expect(await statusesOf(image)).toEqual([404]);
    expect(await stage.deployment.keys(`${image.id}/`)).toEqual([]);
    await expect.poll(() => namesOf(image)).toEqual([]);
    expect(await statusesOf(kept)).toEqual([200, 206]);
    expect((await fetchBytes(addressOf(other, kept.id, "png"))).bytes.equals(small)).toBe(true);
  });

  test("after the last record is removed, nothing of any image remains", async () => {
    const { one, other, clock } = stage.deployment;
    clock.now += 400 * DAY_MS;
    await one.images.sweep();
    clock.now += 30 * DAY_MS;
    await other.images.sweep();
    const keys = await stage.deployment.keys();
    // The store's own record stays as well, and the first time of notes of renditions.
    const others = keys.filter(
      (key) => !/^(?:identity(?:\/originals|\/renditions)?$|rendition-notes\/)/.test(key),
    );
    expect(others).toEqual([]);
    const left = async () =>
      (await stage.deployment.names()).filter(
        (name) => OF_IMAGES.test(name) && !/^superseded\/|identity\/|^due\/renditions$/.test(name),
      );
    await expect.poll(left).toEqual([]);
  });
}

function lookingAt(site: Site, id: string): [string, RequestInit][] {
  return [
    [addressOf(site, id, "json"), {}],
    [addressOf(site, id, "png"), {}],
    [addressOf(site, id, "png"), { headers: { Range: "bytes=0-9" } }],
    [addressOf(site, id, "jpg?resize=60x"), {}],
    [addressOf(site, id, "png?resize=50x"), { method: "HEAD" }],
    [`${site.base}/${id}`, { headers: BROWSER }],
    [`${site.base}/${id}/view`, {}],
  ];
}
