import { describe, expect, test } from "vitest";
import { imageOn } from "../../../test/read-site.ts";

const NOT_ITS_OWN =
  "The signature s does not match this URL: it covers the image, the format and every parameter";

describe("with sizes: any", () => {
  test.each([
    "png",
    "png?resize=20x",
    "jpg?convert=low",
    "png?page=1",
    "png?preset=thumb",
    "png?s=",
    "png?until=",
  ])(".%s answers 200", async (rest) => {
    const { get, at } = await imageOn();
    expect((await get(at(rest))).status).toBe(200);
  });

  test("a signed address answers with the same ETag as the address without a signature", async () => {
    const { get, sign, at } = await imageOn();
    const signed = await get(await sign({ format: "png", resize: "20x" }));
    expect([signed.status, signed.headers.ETag]).toEqual([
      200,
      (await get(at("png?resize=20x"))).headers.ETag,
    ]);
  });

  test("a preset has the same ETag as its own parameters, quality included", async () => {
    const { get, at } = await imageOn();
    const tags = async (...rests: string[]) =>
      Promise.all(rests.map(async (rest) => (await get(at(rest))).headers.ETag));
    expect(new Set(await tags("png?preset=thumb", "png?resize=32x32")).size).toBe(1);
    expect(new Set(await tags("jpg?preset=small", "jpg?resize=20x&convert=low")).size).toBe(1);
    expect(new Set(await tags("png?preset=small", "png?resize=20x")).size).toBe(1);
    expect(new Set(await tags("png?preset=thumb", "png?preset=small")).size).toBe(2);
  });

  test.each([
    ["a wrong signature", "png?resize=20x&s=abc", NOT_ITS_OWN],
    ["a signature on the bare format", "png?s=abc", NOT_ITS_OWN],
    ["a signature on a preset", "png?preset=thumb&s=abc", NOT_ITS_OWN],
    [
      "until without a signature",
      "png?until=99999999999999",
      "A URL with until must be signed: s is missing",
    ],
    [
      "until with an empty signature",
      "png?until=99999999999999&s=",
      "A URL with until must be signed: s is missing",
    ],
  ])("%s answers 403 to GET and HEAD", async (_, rest, detail) => {
    const { get, at } = await imageOn();
    for (const method of ["GET", "HEAD"]) {
      const answer = await get(at(rest), { "if-none-match": "*" }, method);
      expect([answer.status, answer.headers["Cache-Control"]]).toEqual([403, "no-store"]);
      if (method === "GET") expect(answer.json.detail).toBe(detail);
    }
  });

  test.each([
    ["png?preset=huge", "preset must be one of thumb, page-2, small"],
    ["png?preset=Thumb", "preset must be one of thumb, page-2, small"],
    ["png?preset=__proto__", "preset must be one of thumb, page-2, small"],
    ["png?preset=thumb&resize=32x32", "preset and resize exclude each other: send only one"],
    ["png?preset=thumb&convert=low", "preset and convert exclude each other: send only one"],
    ["png?preset=thumb&page=1", "preset and page exclude each other: send only one"],
    ["png?preset=page-2", "page must be at most 1"],
    ["png?until=soon&s=abc", "until must be Unix milliseconds"],
    ["png?until=-5&s=abc", "until must be Unix milliseconds"],
    ["png?until=9999999999999999&s=abc", "until must be Unix milliseconds"],
  ])("%s answers 400 with the reason", async (rest, detail) => {
    const { get, at } = await imageOn();
    const answer = await get(at(rest));
    expect([answer.status, answer.json.detail]).toEqual([400, detail]);
  });

  test("a preset answers 400 if the service has none", async () => {
    const { get, at } = await imageOn({ presets: {} });
    const answer = await get(at("png?preset=thumb"));
    expect([answer.status, answer.json.detail]).toEqual([
      400,
      "preset is unknown: this service has no presets",
    ]);
  });
});

describe("with sizes by steps", () => {
  test("a preset and a signed address are served in the exact size, others in the next step", async () => {
    const { get, sign, at } = await imageOn({ sizes: { steps: [25, 30] } });
    const tag = async (address: string) => (await get(address)).headers.ETag;
    const exact = await tag(await sign({ format: "webp", resize: "20x20" }));
    const stepped = await tag(at("webp?resize=20x20"));
    expect(stepped).toBe(await tag(at("webp?resize=25x25")));
    expect(exact).not.toBe(stepped);
    expect(await tag(at("webp?preset=thumb"))).toBe(
      await tag(await sign({ format: "webp", resize: "32x32" })),
    );
  });

  test.each([
    ["resize=20x20&fit=cover", 200],
    ["resize=20x20&fit=cover&at=attention", 200],
    ["resize=20x20&fit=cover&at=0.1,0.2", 403],
    ["resize=20x10&fit=cover", 403],
    ["resize=20x20&fit=pad", 403],
  ])("?%s answers %i without a signature", async (search, status) => {
    const { get, at } = await imageOn({ sizes: { steps: [25, 30] } });
    expect((await get(at(`png?${search}`))).status).toBe(status);
  });

  test("any crop is served by a signed address", async () => {
    const { get, sign } = await imageOn({ sizes: { steps: [25, 30] } });
    const crop = { format: "png", resize: "20x10", fit: "cover", at: [0.1, 0.2] } as const;
    expect((await get(await sign(crop))).status).toBe(200);
  });

  test("a size in the body is served by steps, although the address is signed", async () => {
    const { sign, site, at } = await imageOn({ sizes: { steps: [25] } });
    const [path = "", search = ""] = (await sign({ format: "webp", resize: "20x20" })).split("?");
    const changed = await site.send("GET", path, { search, fields: { resize: "21x21" } });
    const plain = await site.send("GET", at("webp"), { search: "resize=21x21" });
    expect([changed.status, changed.headers.ETag]).toEqual([200, plain.headers.ETag]);
  });
});
