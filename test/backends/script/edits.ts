import { expect, test } from "vitest";
import { addressOf, upload } from "../../support/service.ts";
import { fetchBytes, fetchJson } from "../fetch-bytes.ts";
import type { Stage } from "./stage.ts";

const HOUR_MS = 3_600_000;
const JSON_TYPE = { "Content-Type": "application/json" };

/** The pages, and edits with the PIN. */
export function describeEdits(stage: Stage): void {
  test("the record can be edited with its PIN, but not over a concurrent edit", async () => {
    const { one, other, clock } = stage.deployment;
    const { small } = stage.material;
    const { id, pin } = await upload(one, small, "image/png", { name: "first" });
    const patch = (site: { base: string }, body: object, headers: Record<string, string> = {}) =>
      fetchJson(addressOf(site, id, "json"), {
        method: "PATCH",
        headers: { ...JSON_TYPE, ...headers },
        body: JSON.stringify(body),
      });
    const before = await fetchJson(addressOf(other, id, "json"));
    const etag = String(before.headers.get("etag"));
    expect((await patch(one, { name: "second" })).status).toBe(403);
    expect((await patch(one, { name: "second", pin: "0".repeat(16) })).status).toBe(403);
    expect((await fetchJson(addressOf(other, id, "json"))).body).toEqual(before.body);

    clock.now += 1000;
    const expiresAt = new Date(clock.now + 5 * HOUR_MS).toISOString();
    const pinned = { "X-Service-Image-Pin": pin };
    const changed = await patch(one, { name: "second", expiresAt }, { ...pinned, "If-Match": etag });
    expect(changed).toMatchObject({
      status: 200,
      body: { id, name: "second", expiresAt, updatedAt: new Date(clock.now).toISOString() },
    });
    expect(changed.headers.get("etag")).not.toBe(etag);
    expect((await patch(other, { name: "third" }, { ...pinned, "If-Match": etag })).status).toBe(412);
    const after = await fetchJson(addressOf(other, id, "json"));
    expect(after.body).toMatchObject({ name: "second", expiresAt, size: small.length });
    expect(after.headers.get("etag")).toBe(changed.headers.get("etag"));
    expect((await fetchBytes(addressOf(other, id, "png"))).bytes.equals(small)).toBe(true);
  });
}
