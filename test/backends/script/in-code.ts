import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { addressOf } from "../../support/service.ts";
import { fetchBytes, fetchJson } from "../fetch-bytes.ts";
import type { Stage } from "./stage.ts";

/** The library behind the addresses: HTTP serves what it stores, and it returns what HTTP returns. */
export function describeInCode(stage: Stage): void {
  test("a picture added in code is served over HTTP and opened in code with the same bytes", async () => {
    const { one, other } = stage.deployment;
    const { bytes, type } = stage.material.originals.png;
    const added = await one.images.add(bytes, { name: "added in code" });
    const { pin, editUrl, revision, ...record } = added;
    expect(record).toMatchObject({ name: "added in code", type, size: bytes.length, status: "ready" });
    expect(revision).toMatch(/./);
    expect(editUrl).toBe(`${record.url}/edit?pin=${pin}`);

    const { id } = record;
    const served = await fetchJson(addressOf(other, id, "json"));
    expect(JSON.stringify(record)).toBe(JSON.stringify(served.body).replaceAll(other.base, ""));
    expect(await other.images.find(id)).toEqual({ ...record, revision });

    for (const [format, resize] of [["png"], ["jpg", "40x30"], ["pdf"]] as const) {
      const query = resize === undefined ? "" : `?resize=${resize}`;
      const reply = await fetchBytes(`${addressOf(one, id, format)}${query}`);
      const opened = await other.images.open(id, resize === undefined ? { format } : { format, resize });
      expect((await buffer(opened.body)).equals(reply.bytes)).toBe(true);
      expect([String(opened.size), opened.type, opened.etag, opened.lastModified.toUTCString()]).toEqual(
        ["content-length", "content-type", "etag", "last-modified"].map((name) => reply.headers.get(name)),
      );
    }
    const part = await one.images.open(id, { range: { start: 10, end: 19 } });
    expect((await buffer(part.body)).equals(bytes.subarray(10, 20))).toBe(true);
    expect(part.size).toBe(bytes.length);
  });

  test("HTTP shows edits and removals made in code", async () => {
    const { one, other, clock } = stage.deployment;
    const { id, revision } = await one.images.add(stage.material.small, { name: "before" });
    const expiresAt = new Date(clock.now + 3_600_000).toISOString();
    const edited = await other.images.edit(id, { name: "after", expiresAt }, { ifRevision: revision });
    expect(edited).toMatchObject({ id, name: "after", expiresAt });
    await expect(one.images.edit(id, { name: "late" }, { ifRevision: revision })).rejects.toMatchObject({
      code: "conflict",
    });
    expect((await fetchJson(addressOf(one, id, "json"))).body).toMatchObject({ name: "after", expiresAt });

    await one.images.remove(id);
    for (const call of ["open", "find", "remove"] as const) {
      await expect(other.images[call](id)).rejects.toMatchObject({ code: "gone" });
    }
    expect((await fetchBytes(addressOf(other, id, "png"))).status).toBe(410);
  });

  test("owners and their limits apply to calls in code", async () => {
    const { one, other } = stage.deployment;
    const owned = { owner: "carla", ownerLimits: { images: 1 } };
    const { id } = await one.images.add(stage.material.small, owned);
    await expect(other.images.add(stage.material.small, owned)).rejects.toMatchObject({ code: "forbidden" });
    expect(await other.images.usage("carla")).toEqual({ images: 1, bytes: stage.material.small.length });
    await one.images.remove(id);
  });
}
