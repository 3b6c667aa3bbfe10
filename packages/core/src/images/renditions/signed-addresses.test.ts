import { describe, expect, test } from "vitest";
import { created } from "../../../test/image-site.ts";
import { HOUR, MINUTE, SECOND } from "../../../test/life-site.ts";
import { imageOn, looking } from "../../../test/read-site.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import type { AddressedRendition } from "./write-address.ts";

const NEEDS_ONE = "resize, convert, page, fit, at and background need an address signed by the host.";

describe("with sizes: signed", () => {
  test.each(["png", "png?resize=", "png?utm_source=x", "png?preset=thumb", "jpg?preset=small", "json"])(
    ".%s answers 200 without a signature",
    async (rest) => {
      const { get, at } = await imageOn({ sizes: "signed" });
      expect((await get(at(rest))).status).toBe(200);
    },
  );

  test.each([
    "png?resize=20x",
    "jpg?convert=low",
    "png?convert=low",
    "png?page=1",
    "jpeg?resize=20x",
    "png/?resize=20x",
  ])(".%s without a signature answers 403 and lists the presets", async (rest) => {
    const { get, at } = await imageOn({ sizes: "signed" });
    for (const method of ["GET", "HEAD"]) {
      const answer = await get(at(rest), { "if-none-match": "*" }, method);
      expect(answer.status).toBe(403);
      if (method === "GET") {
        expect(answer.json.detail).toBe(
          `${NEEDS_ONE} Without a signature, use preset=thumb, preset=page-2, preset=small.`,
        );
      }
    }
  });

  test("an invalid parameter answers 400, although the signature is missing too", async () => {
    const { get, at } = await imageOn({ sizes: "signed" });
    expect((await get(at("png?resize=0x"))).status).toBe(400);
  });

  test("an unknown image answers 404 without a signature", async () => {
    const { get, at, id } = await imageOn({ sizes: "signed" });
    expect((await get(at("png?resize=20x").replace(id, "A".repeat(22)))).status).toBe(404);
  });

  test.each<[AddressedRendition]>([
    [{ format: "png", resize: "20x" }],
    [{ format: "jpg", resize: "x20", convert: "low", page: 1 }],
    [{ format: "jpg", convert: "max" }],
    [{ format: "pdf", page: 1 }],
    [{ format: "png", preset: "thumb" }],
    [{ format: "png" }],
  ])("a signed address of %j answers 200 to each GET and to HEAD, and 304 to its ETag", async (rendition) => {
    const { get, sign } = await imageOn({ sizes: "signed" });
    const address = await sign(rendition);
    const first = await get(address);
    expect(first.status).toBe(200);
    expect((await get(address)).headers.ETag).toBe(first.headers.ETag);
    expect((await get(address, {}, "HEAD")).status).toBe(200);
    expect((await get(address, { "if-none-match": String(first.headers.ETag) })).status).toBe(304);
  });

  test("a signature on any other address answers 403", async () => {
    const { get, sign, site, id } = await imageOn({ sizes: "signed" });
    const other = created(await site.create()).id;
    const address = await sign(
      { format: "jpg", resize: "20x30", convert: "low" },
      { until: site.clock.now + HOUR },
    );
    expect((await get(address)).status).toBe(200);
    const changes: readonly (readonly [string, string])[] = [
      [id, other],
      [".jpg", ".png"],
      [".jpg", ".webp"],
      ["resize=20x30", "resize=30x20"],
      ["resize=20x30", "resize=20x"],
      ["resize=20x30", "resize=21x30&resize=20x30"],
      ["&resize=20x30", ""],
      ["convert=low", "convert=max"],
      ["convert=low", ""],
      ["?", "?page=1&"],
      ["&until=", "&until=9&until="],
      [/until=\d+/.exec(address)?.[0] ?? "", `until=${site.clock.now + 2 * HOUR}`],
      ["&until=", "&late="],
      ["&s=", "&S="],
      ["&s=", "&s=A&s="],
    ];
    for (const [from, to] of changes) {
      const changed = address.replace(from, to);
      expect(changed).not.toBe(address);
      expect([changed, (await get(changed)).status]).toEqual([changed, 403]);
    }
    const asPreset = address.replace(/\?.*&s=/, "?preset=thumb&s=");
    expect((await get(asPreset)).status).toBe(403);
  });

  test("a signature is valid for every spelling of the same parameters", async () => {
    const { get, sign } = await imageOn({ sizes: "signed" });
    const address = await sign({ format: "jpg", resize: "20x30", convert: "low", page: 1 });
    const [path = "", search = ""] = address.split("?");
    const parts = search.split("&");
    const same = [
      `${path}?${[...parts].reverse().join("&")}`,
      `${path}?${search}&utm_source=mail&fbclid=1`,
      `${path}?${search}&resize=800x600&s=other`,
      `${path}?${search.replace("20x30", "%32%30x30")}`,
      `${path}?${search.replace("20x30", "020x0030").replace("page=1", "page=01")}`,
      address.replace(".jpg", ".jpeg"),
      address.replace(".jpg", ".jpg/"),
    ];
    const tag = (await get(address)).headers.ETag;
    for (const each of same) {
      const answer = await get(each);
      expect([each, answer.status, answer.headers.ETag]).toEqual([each, 200, tag]);
    }
  });

  test("parameters in a body are not covered by a signature", async () => {
    const { sign, at, site } = await imageOn({ sizes: "signed" });
    const ask = (address: string, fields: Record<string, unknown>) => {
      const [path = "", search = ""] = address.split("?");
      return site.send("GET", path, { search, fields });
    };
    const signed = await sign({ format: "png", resize: "20x" });
    for (const fields of [{ resize: "21x" }, { resize: "20x" }, { page: 1 }, { convert: "low" }]) {
      expect([fields, (await ask(signed, fields)).status]).toEqual([fields, 403]);
      expect([fields, (await ask(at("png"), fields)).status]).toEqual([fields, 403]);
    }
    const s = signed.slice(signed.indexOf("&s=") + 3);
    expect((await ask(at("png"), { resize: "20x", s })).status).toBe(403);
    expect((await ask(signed, { note: "nothing" })).status).toBe(200);
    expect((await ask(at("png"), {})).status).toBe(200);
    expect((await ask(at("png"), { preset: "thumb" })).status).toBe(200);
    expect((await ask(signed, { preset: "thumb" })).status).toBe(400);
  });
});

describe("a signed address with until", () => {
  test("answers 200 before that time and 403 from that time on, with every option sizes", async () => {
    for (const sizes of ["any", "steps", "signed"] as const) {
      const { get, sign, site } = await imageOn({ sizes });
      const until = site.clock.now + MINUTE;
      const address = await sign({ format: "png", resize: "20x" }, { until });
      const fresh = await get(address);
      expect(fresh.status).toBe(200);
      site.clock.now = until - 1;
      expect((await get(address)).status).toBe(200);
      site.clock.now = until;
      for (const headers of [{}, { "if-none-match": String(fresh.headers.ETag) }, { range: "bytes=0-0" }]) {
        const late = await get(address, headers);
        expect([late.status, late.json.detail]).toEqual([
          403,
          `This link expired at ${new Date(until).toISOString()}`,
        ]);
      }
      const withBody = { search: address.split("?")[1] ?? "", fields: { note: "x" } };
      expect((await site.send("GET", address.split("?")[0] ?? "", withBody)).status).toBe(403);
    }
  });

  test("limits max-age to the time left and sends the end as Sunset", async () => {
    const { get, sign, site } = await imageOn({ cacheSeconds: 300 });
    const until = site.clock.now + HOUR;
    const address = await sign({ format: "png", resize: "20x" }, { until });
    for (const [leftMs, maxAge] of [
      [HOUR, 300],
      [300 * SECOND - 1, 299],
      [HOUR, 300],
      [1500, 1],
      [1, 0],
    ] as const) {
      site.clock.now = until - leftMs;
      for (const headers of [{}, { "if-none-match": "*" }]) {
        const answer = await get(address, headers);
        expect(answer.headers["Cache-Control"]).toBe(
          `public, max-age=${maxAge}, must-revalidate, no-transform`,
        );
        expect(answer.headers.Sunset).toBe(new Date(until).toUTCString());
      }
    }
  });

  test("sends the expiry of its image as Sunset if that is earlier, and answers 410 after it", async () => {
    const { get, sign, site } = await imageOn();
    const address = await sign({ format: "png" }, { until: site.clock.now + 48 * HOUR });
    expect((await get(address)).headers.Sunset).toBe("Mon, 02 Mar 2026 12:00:00 GMT");
    site.clock.now += 25 * HOUR;
    expect((await get(address)).status).toBe(410);
  });
});

describe("with a rotated secret", () => {
  test("a signature by the old secret is valid while the list contains that secret", async () => {
    const [fresh, old] = ["fedcba9876543210fedcba9876543210", "0123456789abcdef0123456789abcdef"];
    const store = createMemoryBlobStore();
    const { sign, site, id } = await imageOn({ sizes: "signed", store, secret: old });
    const address = await sign({ format: "png", resize: "20x" });
    const renewed = looking(site.another({ renderer: site.renderer, secret: [fresh, old] }), id);
    expect((await renewed.get(address)).status).toBe(200);
    const byFresh = await renewed.sign({ format: "png", resize: "20x" });
    expect(byFresh).not.toBe(address);
    expect((await looking(site, id).get(byFresh)).status).toBe(403);
  });
});
