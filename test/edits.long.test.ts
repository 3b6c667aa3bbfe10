import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { animatedGif, pngPhoto } from "./support/pictures.ts";
import { addressOf, bytesOf, type Created, type Site, startSite, upload } from "./support/service.ts";

const LOGO = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><path fill="#f0f" d="M0 0h20v10H0z"/></svg>',
);
const presets = {
  turned: { resize: "100x200", rotate: 90 },
  cut: { resize: "60x120", fit: "cover", at: [0, 0], rotate: 270 },
  marked: { resize: "100x", watermark: { image: LOGO, at: "center", width: 0.5 } },
  upside: { rotate: 180 },
} as const;

let site: Site;
let image: Created;

beforeAll(async () => {
  site = await startSite({ presets, sizes: "signed" });
  image = await upload(site, await pngPhoto(400, 300), "image/png");
});
afterAll(() => site.close());

const at = (format: string, preset: string, { id } = image) =>
  `${addressOf(site, id, format)}?preset=${preset}`;

async function sizeAt(address: string): Promise<string> {
  const { response, bytes } = await bytesOf(address);
  expect([address, response.status]).toEqual([address, 200]);
  const { width, height, pageHeight } = await sharp(bytes, { animated: true }).metadata();
  return `${width}x${pageHeight ?? height}`;
}

test("a turned picture fits the box, in every format that has pixels", async () => {
  for (const format of ["png", "jpg", "gif", "webp", "avif", "auto", "svg"]) {
    expect([format, await sizeAt(at(format, "turned"))]).toEqual([format, "100x133"]);
  }
  expect(await sizeAt(at("png", "cut"))).toBe("60x120");
});

test("the original's own format is edited too, and its bare address still has the original", async () => {
  const { bytes: original } = await bytesOf(addressOf(site, image.id, "png"));
  const { bytes, response } = await bytesOf(at("png", "upside"));
  const pixelsOf = (picture: Buffer) => sharp(picture).removeAlpha().raw().toBuffer();
  const turned = await sharp(original).rotate(180).png().toBuffer();
  expect((await pixelsOf(bytes)).equals(await pixelsOf(turned))).toBe(true);
  expect(response.headers.get("etag")).toMatch(/\.png-400x300-e[0-9a-f]{16}\./);
});

test("HEAD and a revalidation know the rendition that GET has made", async () => {
  const address = at("webp", "marked");
  const { bytes, response } = await bytesOf(address);
  const etag = String(response.headers.get("etag"));
  const head = await fetch(address, { method: "HEAD" });
  expect([head.headers.get("content-length"), head.headers.get("etag")]).toEqual([
    String(bytes.length),
    etag,
  ]);
  expect((await fetch(address, { headers: { "If-None-Match": etag } })).status).toBe(304);
});

test("a watermark is drawn on the picture, and on each frame of an animation", async () => {
  const gif = await upload(site, await animatedGif(3, 80, 60), "image/gif");
  for (const [address, frames] of [
    [at("png", "marked"), 1],
    [at("gif", "marked", gif), 3],
    [at("webp", "marked", gif), 3],
  ] as const) {
    const { bytes } = await bytesOf(address);
    for (let page = 0; page < frames; page++) {
      const frame = sharp(bytes, { page }).removeAlpha();
      const { data, info } = await frame.toColourspace("srgb").raw().toBuffer({ resolveWithObject: true });
      const middle = 3 * (Math.floor(info.height / 2) * info.width + Math.floor(info.width / 2));
      const [red = 0, green = 255, blue = 0] = data.subarray(middle, middle + 3);
      expect(Math.min(red, blue) - green, `${address}, frame ${page}`).toBeGreaterThan(200);
    }
  }
});

test("edits cannot be named in an address or a call, only their preset", async () => {
  const { bytes: plain } = await bytesOf(`${addressOf(site, image.id, "gif")}`);
  const free = await bytesOf(`${addressOf(site, image.id, "gif")}?rotate=90&watermark=a&edits=1`);
  expect(free.bytes.equals(plain)).toBe(true);
  await expect(site.images.open(image.id, { format: "png", rotate: 90 } as never)).rejects.toThrow(
    /^rotate is no option of open: it takes format/,
  );
  const opened = await site.images.open(image.id, { format: "png", preset: "turned" });
  const { width, height } = await sharp(Buffer.concat(await opened.body.toArray())).metadata();
  expect([width, height]).toEqual([100, 133]);
});
