import { PLAIN } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import { created } from "../../../test/image-site.ts";
import { createLifeSite, DAY, willingRenderer } from "../../../test/life-site.ts";
import { imageOn } from "../../../test/read-site.ts";

const MODERN = { accept: "image/avif,image/webp,*/*;q=0.8" };

describe(".auto", () => {
  test("answers with the rendition, and the ETag, of the address that names the format", async () => {
    const { get, at } = await imageOn();
    for (const [accept, format] of [
      ["image/avif,image/webp,*/*", "avif"],
      ["image/webp", "webp"],
      ["image/jpeg", "jpg"],
    ] as const) {
      const auto = await get(at("auto?resize=20x"), { accept });
      const named = await get(at(`${format}?resize=20x`));
      const { Vary, ...headers } = auto.headers;
      expect({ ...auto, headers }).toEqual(named);
      expect([Vary, named.headers.Vary]).toEqual(["Accept", undefined]);
    }
  });

  test("keeps replies at hand apart by format", async () => {
    const { get, at } = await imageOn();
    const read = async (accept: string) =>
      (await get(at("auto?resize=20x"), { accept })).headers["Content-Type"];
    for (let round = 0; round < 3; round++) {
      expect(await read("image/webp")).toBe("image/webp");
      expect(await read("image/jpeg")).toBe("image/jpeg");
    }
  });

  test("looks at convert only where the result is a JPEG", async () => {
    const { get, at } = await imageOn();
    const tag = async (rest: string, accept: string) => (await get(at(rest), { accept })).headers.ETag;
    expect(await tag("auto?convert=low", "image/jpeg")).toBe(await tag("jpg?convert=low", "*/*"));
    expect(await tag("auto?convert=low", "image/webp")).toBe(await tag("webp", "*/*"));
    for (const unknown of ["best", "auto"]) {
      expect((await get(at(`auto?convert=${unknown}`), { accept: "image/webp" })).status).toBe(400);
    }
  });

  test("serves a picture without transparency as JPEG to a client without preference, any other as PNG", async () => {
    const types = [];
    for (const alpha of [true, false, undefined]) {
      const renderer = willingRenderer();
      renderer.answer = (admitting) => admitting.accept(alpha === undefined ? PLAIN : { ...PLAIN, alpha });
      const { get, at } = await imageOn({ renderer });
      types.push((await get(at("auto"))).headers["Content-Type"]);
    }
    expect(types).toEqual(["image/png", "image/jpeg", "image/png"]);
  });

  test("a signed address holds for every format, and for no other parameters", async () => {
    const { get, sign } = await imageOn({ sizes: "signed" });
    const address = await sign({ format: "auto", resize: "20x", convert: "low" });
    for (const accept of ["image/avif", "image/jpeg"]) {
      expect((await get(address, { accept })).status).toBe(200);
    }
    expect((await get(address.replace("20x", "21x"), MODERN)).status).toBe(403);
    expect((await get(address.replace(".auto", ".avif"))).status).toBe(403);
  });

  test("every reply has Vary: 200, 206, 304, 400, 403, 404, 405, 410, 412, 416, 429, 451, HEAD and OPTIONS", async () => {
    const { get, at, site, id } = await imageOn();
    const seen: number[] = [];
    const check = async (answer: ReturnType<typeof get>) => {
      const { status, headers } = await answer;
      seen.push(status);
      expect(headers.Vary, String(status)).toBe("Accept");
      return headers;
    };
    const { ETag } = await check(get(at("auto"), MODERN));
    await check(get(at("auto"), { ...MODERN, range: "bytes=0-3" }));
    await check(get(at("auto"), { ...MODERN, "if-none-match": String(ETag) }));
    await check(get(at("auto?resize=0x"), MODERN));
    await check(get(at("auto?until=1"), MODERN));
    await check(get(at("auto").replace(id, "A".repeat(22)), MODERN));
    await check(get(at("auto"), MODERN, "DELETE"));
    await check(get(at("auto"), { ...MODERN, "if-match": '"other"' }));
    await check(get(at("auto"), { ...MODERN, range: "bytes=9999-" }));
    await check(get(at("auto"), MODERN, "HEAD"));
    await check(get(at("auto?resize=7x"), MODERN, "HEAD"));
    await check(get(at("auto"), MODERN, "OPTIONS"));
    await site.images.withhold(id, { reason: "A court order" });
    await check(get(at("auto"), MODERN));
    await site.images.release(id);
    site.clock.now += DAY;
    await check(get(at("auto"), MODERN));
    expect(seen).toEqual([200, 206, 304, 400, 403, 404, 405, 412, 416, 200, 200, 204, 451, 410]);
  });

  test("refusals of a rate limit, and replies of an image in process, have Vary", async () => {
    const limited = await imageOn({ rateLimits: { reads: 1 } });
    await limited.get(limited.at("auto"), MODERN);
    const refused = await limited.get(limited.at("auto"), MODERN);
    expect([refused.status, refused.headers.Vary]).toEqual([429, "Accept"]);

    const site = createLifeSite();
    site.renderer.answer = null;
    const { id } = created(await site.create({ headers: { prefer: "respond-async" } }));
    const waiting = await site.send("GET", `/api/images/${id}.auto`, { headers: MODERN });
    expect([waiting.status, waiting.headers.Vary]).toEqual([202, "Accept"]);
  });

  test("a service with CORS for listed origins names both headers in Vary, also in replies at hand", async () => {
    const { get, at } = await imageOn({ cors: { origins: ["https://app.example"] } });
    for (let round = 0; round < 2; round++) {
      expect((await get(at("auto"), MODERN)).headers.Vary).toBe("Accept, Origin");
    }
  });

  test("a client gets 304 for the format that it would get, and the bytes where its copy has another format", async () => {
    const { get, at } = await imageOn();
    const tag = String((await get(at("auto"), { accept: "image/webp" })).headers.ETag);
    const again = (accept: string) => get(at("auto"), { accept, "if-none-match": tag });
    expect((await again("image/webp")).status).toBe(304);
    expect(await again("image/avif")).toMatchObject({
      status: 200,
      headers: { "Content-Type": "image/avif" },
    });
  });
});
