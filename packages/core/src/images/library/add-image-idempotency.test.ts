import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { keysOf } from "../../../test/image-site.ts";
import { createLibrarySite } from "../../../test/library-site.ts";
import { DAY } from "../../../test/life-site.ts";

const OTHER = Buffer.concat([PNG, Buffer.from("another")]);

describe("the option idempotencyKey of add()", () => {
  test("the same key, bytes, name and type return the first image, whatever the expiry", async () => {
    const site = createLibrarySite();
    const key = { idempotencyKey: "order-17" };
    const first = await site.images.add(PNG, key);
    const again = await site.images.add(Readable.from([PNG]), { ...key, expiresAt: site.clock.now + DAY });
    expect(again).toEqual(first);
    for (const [source, options] of [
      [OTHER, key],
      [PNG, { ...key, name: "Other" }],
      [PNG, { ...key, type: "image/png" }],
    ] as const) {
      await expect(site.images.add(source, options)).rejects.toMatchObject({ code: "conflict" });
    }
    expect((await keysOf(site.store)).filter((name) => name.endsWith("/record"))).toHaveLength(1);
  });

  test("a key is separate for each owner, and from clients over HTTP", async () => {
    const site = createLibrarySite({ authorize: () => ({ owner: "anna" }) });
    const key = { idempotencyKey: "order-17" };
    const ids = [
      (await site.images.add(PNG, key)).id,
      (await site.images.add(PNG, { ...key, owner: "anna" })).id,
      (await site.images.add(PNG, { ...key, owner: "ben" })).id,
      (await site.create({ headers: { "idempotency-key": "order-17" } })).json.id,
    ];
    expect(new Set(ids).size).toBe(4);
  });
});
