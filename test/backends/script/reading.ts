import { beforeAll, expect, test } from "vitest";
import { addressOf, upload } from "../../support/service.ts";
import { fetchBytes } from "../fetch-bytes.ts";
import type { Stage } from "./stage.ts";

const MIB = 2 ** 20;

/** Conditions, HEAD and ranges of an original that stores keep in several pieces, and of its renditions. */
export function describeReading(stage: Stage): void {
  let id: string;
  beforeAll(async () => {
    ({ id } = await upload(stage.deployment.one, stage.material.large, "image/png"));
  });

  test.each([
    ["the original", "png"],
    ["a rendition", "png?resize=600x"],
  ])("%s answers HEAD, conditions and ranges", async (_, suffix) => {
    const { one, other, clock } = stage.deployment;
    const { large } = stage.material;
    const address = addressOf(one, id, suffix);
    const whole = await fetchBytes(address);
    expect(whole.status).toBe(200);
    if (suffix === "png") expect(whole.bytes.equals(large)).toBe(true);
    expect(whole.bytes.length).toBeGreaterThan(0.6 * MIB);

    const head = await fetchBytes(address, { method: "HEAD" });
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    for (const name of ["etag", "last-modified", "content-length", "content-type", "accept-ranges"]) {
      expect([name, head.headers.get(name)]).toEqual([name, whole.headers.get(name)]);
    }
    const etag = String(whole.headers.get("etag"));
    const modified = String(whole.headers.get("last-modified"));
    expect(modified).toBe(new Date(clock.now).toUTCString());
    const there = addressOf(other, id, suffix);
    const statusWith = async (headers: Record<string, string>) => {
      const { status, bytes } = await fetchBytes(there, { headers });
      return [status, bytes.length > 0];
    };
    expect(await statusWith({ "If-None-Match": etag })).toEqual([304, false]);
    expect(await statusWith({ "If-Modified-Since": modified })).toEqual([304, false]);
    expect(await statusWith({ "If-None-Match": '"another"' })).toEqual([200, true]);
    expect(await statusWith({ "If-Match": '"another"' })).toEqual([412, true]);

    const { length } = whole.bytes;
    // Across several pieces of each store.
    const part = await fetchBytes(there, { headers: { Range: `bytes=70000-${length - 10}` } });
    expect([part.status, part.headers.get("content-range")]).toEqual([
      206,
      `bytes 70000-${length - 10}/${length}`,
    ]);
    expect(part.bytes.equals(whole.bytes.subarray(70_000, length - 9))).toBe(true);
    const suffixed = await fetchBytes(there, { headers: { Range: "bytes=-70000" } });
    expect([suffixed.status, suffixed.bytes.equals(whole.bytes.subarray(-70_000))]).toEqual([206, true]);
    const beyond = await fetchBytes(there, { headers: { Range: `bytes=${length}-` } });
    expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, `bytes */${length}`]);
    const old = await fetchBytes(there, { headers: { Range: "bytes=0-9", "If-Range": '"old"' } });
    expect([old.status, old.bytes.equals(whole.bytes)]).toEqual([200, true]);
  });
}
