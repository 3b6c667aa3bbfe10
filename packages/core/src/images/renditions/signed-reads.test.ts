import { expect, test } from "vitest";
import { created } from "../../../test/image-site.ts";
import { HOUR } from "../../../test/life-site.ts";
import { imageOn } from "../../../test/read-site.ts";
import type { Call } from "../../contracts/call.ts";
import type { ImageAction } from "../authorize.ts";
import type { AddressedRendition } from "./write-address.ts";

/** Reads are refused but by signed links. */
const authorize = (call: Call, action: ImageAction) => action !== "read" || call.signed === true;

async function privateImage(options: Parameters<typeof imageOn>[0] = {}) {
  const given = await imageOn({ authorize, ...options });
  const until = given.site.clock.now + HOUR;
  const share = (rendition: AddressedRendition) =>
    given.site.images.address(given.id, rendition, { read: true, until });
  return { ...given, until, share };
}

test.each<[AddressedRendition]>([
  [{ format: "png" }],
  [{ format: "jpg", resize: "20x", convert: "low" }],
  [{ format: "webp", preset: "thumb" }],
  [{ format: "auto" }],
])(
  "a link to %j opens a private image until its end, and no cache for others keeps it",
  async (rendition) => {
    const { get, share, site, until } = await privateImage();
    const link = await share(rendition);
    for (let repeat = 0; repeat < 3; repeat++) {
      const answer = await get(link);
      expect(answer.status).toBe(200);
      expect(answer.headers["Cache-Control"]).toMatch(/^private, max-age=300,/);
      expect((await get(link, {}, "HEAD")).headers["Cache-Control"]).toMatch(/^private/);
      expect((await get(link, { "if-none-match": String(answer.headers.ETag) })).status).toBe(304);
    }
    site.clock.now = until - 1000;
    expect((await get(link)).headers["Cache-Control"]).toMatch(/^private, max-age=1,/);
    site.clock.now = until;
    expect((await get(link)).status).toBe(403);
  },
);

test("no other address of the image is open, and no change of the link", async () => {
  const { get, share, site, id, at, sign, until } = await privateImage();
  const link = await share({ format: "jpg", resize: "20x" });
  const other = created(await site.create()).id;
  const [, query = ""] = link.split("?");
  for (const [title, address] of [
    ["unsigned", at("jpg?resize=20x")],
    ["the original", at("png")],
    ["the record", `/api/images/${id}.json?${query}`],
    ["the image URL", `/${id}?${query}`],
    ["the viewer", `/${id}/view?${query}`],
    ["another image", link.replace(id, other)],
    ["another format", link.replace(".jpg", ".png")],
    ["another size", link.replace("20x", "21x")],
    ["a parameter more", `${link}&convert=low`],
    ["a later end", link.replace(/until=\d+/, `until=${until + 1}`)],
    ["no end", link.replace(/&until=\d+/, "")],
    ["a damaged signature", link.replace(/s=./, "s=_")],
    ["a malformed parameter", `${link}&page=0`],
    ["signed without end", await sign({ format: "jpg", resize: "20x" })],
    ["signed for its size", await sign({ format: "jpg", resize: "20x" }, { until })],
  ] as const) {
    expect((await get(address)).status, title).toBe(403);
  }
  const body = { fields: { resize: "99x" } };
  const [path = "", search = ""] = link.split("?");
  const changed = await site.send("GET", path, { search, headers: { "content-length": "9" }, ...body });
  expect(changed.status).toBe(403);
  expect((await get(link)).status).toBe(200);
});

test("with sizes: signed, an address that pages mint for a size opens no private image", async () => {
  const { get, share, sign } = await privateImage({ sizes: "signed" });
  for (const rendition of [
    { format: "png" },
    { format: "jpg", resize: "20x" },
    { format: "webp", preset: "thumb" },
  ] as const) {
    expect((await get(await sign(rendition))).status).toBe(403);
    expect((await get(await share(rendition))).status).toBe(200);
  }
});

test("a link opens nothing that is withheld or gone", async () => {
  const { get, share, site, id } = await privateImage();
  const link = await share({ format: "png" });
  await site.images.withhold(id, { reason: "A court order" });
  expect((await get(link)).status).toBe(451);
  const removed = await privateImage();
  const old = await removed.share({ format: "png" });
  await removed.site.images.remove(removed.id);
  expect((await removed.get(old)).status).toBe(410);
});

test("a link keeps its meaning for a host that still refuses it, and is public nowhere", async () => {
  const seen: (boolean | undefined)[] = [];
  const { get, share } = await imageOn({
    authorize(call, action) {
      if (action === "read") seen.push(call.signed);
      return undefined;
    },
  }).then(async (given) => ({
    ...given,
    share: () =>
      given.site.images.address(
        given.id,
        { format: "png" },
        { read: true, until: given.site.clock.now + HOUR },
      ),
  }));
  expect((await get(await share())).headers["Cache-Control"]).toMatch(/^private/);
  expect(seen).toEqual([true]);
});

test("read needs an end, a format and a signature", async () => {
  const { site, id, until } = await privateImage();
  const address = (rendition: AddressedRendition | undefined, options: object) =>
    site.images.address(id, rendition, options);
  await expect(address({ format: "png" }, { read: true })).rejects.toThrow(TypeError);
  await expect(address({ format: "png" }, { read: true, until, signed: false })).rejects.toThrow(TypeError);
  await expect(address(undefined, { read: true, until })).rejects.toMatchObject({ code: "bad_request" });
  await expect(address({ format: "png" }, { read: true, until: site.clock.now })).rejects.toMatchObject({
    code: "bad_request",
  });
});
