import { expect, test } from "vitest";
import { type SrcSetImage, type SrcSetOptions, srcSet } from "./src-set.ts";

const ID = "Yk3fPq0bT1mVxR8aZ2cLdw";
const BASE = "https://example.com/img";
const PHOTO = { url: `${BASE}/${ID}`, width: 4000, height: 3000, type: "image/jpeg", pages: 1 } as const;
const at = (query: string, suffix = "webp") => `${BASE}/api/images/${ID}.${suffix}?${query}`;
const widthsOf = (image: SrcSetImage, options: SrcSetOptions) =>
  [...srcSet(image, options).srcSet.matchAll(/resize=(\d+)x (\d+)w/g)].map(([, asked, told]) => {
    expect(told).toBe(asked);
    return Number(told);
  });

test("srcSet returns the attributes of an img: one candidate per width, and the widest as src", () => {
  expect(srcSet(PHOTO, { widths: [400, 800] })).toEqual({
    src: at("resize=800x"),
    srcSet: `${at("resize=400x")} 400w, ${at("resize=800x")} 800w`,
    sizes: "100vw",
    width: 4000,
    height: 3000,
  });
});

test("srcSet takes format, quality and sizes", () => {
  const options = { widths: [400], format: "jpg", convert: "low", sizes: "auto, 50vw" } as const;
  expect(srcSet(PHOTO, options)).toMatchObject({
    src: at("convert=low&resize=400x", "jpg"),
    srcSet: `${at("convert=low&resize=400x", "jpg")} 400w`,
    sizes: "auto, 50vw",
  });
});

test("srcSet with a ratio cuts each candidate to it, and gives the size of the widest one", () => {
  expect(srcSet(PHOTO, { widths: [320, 800], ratio: 16 / 9 })).toEqual({
    src: at("resize=800x450&fit=cover"),
    srcSet: `${at("resize=320x180&fit=cover")} 320w, ${at("resize=800x450&fit=cover")} 800w`,
    sizes: "100vw",
    width: 800,
    height: 450,
  });
  const options = { widths: [64], ratio: 1, format: "png" } as const;
  expect(srcSet(PHOTO, { ...options, at: [0.3, 0.2] }).src).toBe(
    at("resize=64x64&fit=cover&at=0.3%2C0.2", "png"),
  );
  expect(srcSet(PHOTO, { ...options, at: "attention" }).src).toContain("&fit=cover&at=attention");
  expect(srcSet(PHOTO, { ...options, fit: "pad", background: "f4f4f4" }).src).toBe(
    at("resize=64x64&fit=pad&background=f4f4f4", "png"),
  );
});

test("srcSet with a ratio cuts a raster at most as wide as it is, and pads it at most to the box that holds it", () => {
  const small = { ...PHOTO, width: 600, height: 300 };
  expect(srcSet(small, { widths: [1600], ratio: 1 })).toMatchObject({ width: 300, height: 300 });
  expect(srcSet(small, { widths: [1600], ratio: 4 })).toMatchObject({ width: 600, height: 150 });
  expect(srcSet(small, { widths: [1600], ratio: 1, fit: "pad" })).toMatchObject({ width: 600, height: 600 });
  expect(srcSet(small, { widths: [9], ratio: 1e-4 })).toMatchObject({ width: 1, height: 10_000 });
});

test("srcSet with placeholder gives an opaque image the background of its colour or of its decoded ThumbHash", () => {
  const looks = { color: "#8a7b6c", placeholder: "IPgBBYDpX4uWhVNlW/hzirPy/lu5" };
  const styled = (more: object, placeholder: SrcSetOptions["placeholder"] = true) =>
    srcSet({ ...PHOTO, ...looks, ...more }, { widths: [400], placeholder }).style;
  expect(styled({})).toEqual({ background: "#8a7b6c" });
  const decode = (hash: Uint8Array) => `data:,${hash.length}`;
  expect(styled({}, decode)).toEqual({ background: '#8a7b6c center / cover url("data:,21")' });
  // The third byte of the other one has the bit of an alpha channel.
  const bytes = Buffer.from(looks.placeholder, "base64");
  bytes[2] = 0x80 | (bytes[2] ?? 0);
  expect(styled({ placeholder: bytes.toString("base64") })).toBeUndefined();
  for (const none of [{ color: null }, { placeholder: null }, { color: "red;x" }, { placeholder: "AA==" }]) {
    expect(styled(none)).toBeUndefined();
  }
  expect(styled({}, false)).toBeUndefined();
  expect(srcSet({ ...PHOTO, ...looks }, { widths: [400] })).not.toHaveProperty("style");
});

test("srcSet sorts widths and merges equal ones", () => {
  expect(widthsOf(PHOTO, { widths: [800, 400, 800, 1] })).toEqual([1, 400, 800]);
});

test("srcSet replaces widths beyond a raster by the width of the raster", () => {
  expect(widthsOf({ ...PHOTO, width: 600, height: 450 }, { widths: [400, 800, 1600] })).toEqual([400, 600]);
  expect(widthsOf({ url: PHOTO.url, width: 20, height: 10 }, { widths: [400] })).toEqual([20]);
});

test.each(["image/svg+xml", "application/pdf"])("srcSet keeps widths beyond the size of %s", (type) => {
  expect(widthsOf({ ...PHOTO, type, width: 24, height: 24 }, { widths: [48, 4000, 8192] })).toEqual([
    48, 4000,
  ]);
});

test.each([
  { ...PHOTO, url: `${BASE}/${ID}/edit?pin=ABCDEFGH01234567` },
  { ...PHOTO, url: `https://user:word@example.com/img/api/images/${ID}.jpg?s=abc&until=5#a` },
  { ...PHOTO, url: `${BASE}/${ID}/view` },
  { baseUrl: `${BASE}/`, id: ID, width: 4000, height: 3000 },
  { baseUrl: BASE, id: ID, url: "unused", width: 4000, height: 3000 },
])("srcSet builds the address from $url$baseUrl without PIN, signature, expiry or credentials", (image) => {
  expect(srcSet(image, { widths: [400] }).srcSet).toBe(`${at("resize=400x")} 400w`);
});

test.each([
  ["/img", "/img/"],
  ["/", "/"],
  ["", "/"],
])("srcSet takes the path %j as the mount point", (baseUrl, start) => {
  const image = { baseUrl, id: ID, width: 40, height: 30 };
  expect(srcSet(image, { widths: [20] }).src).toBe(`${start}api/images/${ID}.webp?resize=20x`);
});

test.each([
  [{}, /^widths must be a list/],
  [{ widths: [] }, /^widths must be a list of at least one whole number from 1 to 8192$/],
  [{ widths: 400 }, /^widths must/],
  [{ widths: [0] }, /^widths must/],
  [{ widths: [-1] }, /^widths must/],
  [{ widths: [1.5] }, /^widths must/],
  [{ widths: ["400"] }, /^widths must/],
  [{ widths: [400, Number.NaN] }, /^widths must/],
  [{ widths: [8193] }, /^widths must/],
  [{ widths: new Array(3) }, /^widths must/],
  [{ widths: [400], format: "pdf" }, /^format must be one of webp, avif, jpg, png, gif, auto$/],
  [{ widths: [400], format: "toString" }, /^format must/],
  [{ widths: [400], convert: "best" }, /^convert must/],
  [{ widths: [400], sizes: " " }, /^sizes must/],
  [{ widths: [400], ratio: 0 }, /^ratio must be a number above 0$/],
  [{ widths: [400], ratio: "16:9" }, /^ratio must/],
  [{ widths: [400], ratio: Number.POSITIVE_INFINITY }, /^ratio must/],
  [{ widths: [400], ratio: 1, fit: "contain" }, /^fit must be one of cover, pad$/],
  [{ widths: [400], ratio: 1, at: "left" }, /^at must be \[x, y\], attention or entropy$/],
  [{ widths: [400], ratio: 1, at: [2, 0] }, /^at must be \[x, y\] with numbers from 0 to 1$/],
  [{ widths: [400], ratio: 1, background: "red" }, /^background must be rrggbb or transparent$/],
  [{ widths: [400], placeholder: "blur" }, /^placeholder must be a boolean or a function$/],
  [{ widths: [400], fit: "cover" }, /^fit, at and background need ratio$/],
  [{ widths: [400], at: [0, 0] }, /^fit, at and background need ratio$/],
  [{ widths: [400], width: 5 }, /^width is no option of srcSet: did you mean widths/],
  [null, /^srcSet takes an object of options/],
])("srcSet refuses the options %j", (options, message) => {
  // Values that untyped callers may pass.
  expect(() => srcSet(PHOTO, options as SrcSetOptions)).toThrow(TypeError);
  expect(() => srcSet(PHOTO, options as SrcSetOptions)).toThrow(message);
});

test.each<[image: unknown, message: RegExp]>([
  [null, /^image must be a record/],
  [ID, /^image must be a record/],
  [{ width: 4, height: 3 }, /^image must have the absolute address/],
  [{ ...PHOTO, url: `/img/${ID}` }, /^image must have the absolute address/],
  [{ ...PHOTO, url: "https://example.com/other.jpg" }, /^image must have the absolute address/],
  [{ ...PHOTO, width: null, height: null, status: "processing" }, /^image must have its width and height/],
  [{ url: PHOTO.url }, /^image must have its width and height/],
  [{ ...PHOTO, height: 0 }, /^image must have its width and height/],
  [{ baseUrl: BASE, id: "../x", width: 4, height: 3 }, /^id must be an image ID/],
  [{ baseUrl: BASE, width: 4, height: 3 }, /^id must be an image ID/],
  ...["javascript:alert(1)", "//example.com", "https://a:b@example.com", "/a b", "/a?b", "img"].map(
    (baseUrl): [unknown, RegExp] => [{ baseUrl, id: ID, width: 4, height: 3 }, /^baseUrl must be/],
  ),
])("srcSet refuses the image %j", (image, message) => {
  // Values that untyped callers may pass.
  const given = image as SrcSetImage;
  expect(() => srcSet(given, { widths: [4] })).toThrow(TypeError);
  expect(() => srcSet(given, { widths: [4] })).toThrow(message);
});
