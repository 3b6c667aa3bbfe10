import { expect, test } from "vitest";
import { stripPsd } from "./strip-psd.ts";

const SECRET = "a secret";
const HEADER_BYTES = 26;

interface PsdParts {
  version?: 1 | 2;
  palette?: string;
  resources: Buffer[];
}

function resource(id: number, data: Buffer | string, name = "", signature = "8BIM"): Buffer {
  const content = Buffer.from(data as string, "latin1");
  const head = Buffer.alloc(6);
  head.write(signature, "latin1");
  head.writeUInt16BE(id, 4);
  return Buffer.concat([
    head,
    even(`${String.fromCharCode(name.length)}${name}`),
    uint32(content.length),
    even(content),
  ]);
}

function even(data: Buffer | string): Buffer {
  return Buffer.concat([Buffer.from(data as string, "latin1"), Buffer.alloc(data.length % 2)]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A document of 4 by 2 grey pixels. */
function psd({ version = 1, palette = "", resources }: PsdParts): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(`8BPS\0${String.fromCharCode(version)}`, "latin1");
  header.writeUInt16BE(1, 12);
  header.writeUInt32BE(2, 14);
  header.writeUInt32BE(4, 18);
  header.writeUInt16BE(8, 22);
  header.writeUInt16BE(1, 24);
  const section = Buffer.concat(resources);
  const layers = Buffer.alloc(version === 2 ? 8 : 4);
  const pixels = Buffer.from("\0\0 picture", "latin1");
  return Buffer.concat([
    ...[header, uint32(palette.length), Buffer.from(palette)],
    ...[uint32(section.length), section, layers, pixels],
  ]);
}

async function strip(bytes: Buffer): Promise<Buffer> {
  const before = Buffer.from(bytes);
  const pieces = await stripPsd(bytes);
  expect(bytes.equals(before)).toBe(true);
  return pieces === null ? bytes : Buffer.concat(pieces);
}

const resolution = resource(1005, "16 bytes of density");
const profile = resource(1039, "colours", "name");
const version = resource(1057, "\0\0\0\x01\x01");

test.each([
  1001, 1008, 1028, 1033, 1035, 1036, 1050, 1054, 1058, 1059, 1060, 1061, 1071, 1082, 1083, 1084, 1085, 1086,
])("stripPsd removes only resource %i", async (id) => {
  const added = resource(id, SECRET);
  expect(await strip(psd({ resources: [resolution, added, profile, version] }))).toEqual(
    psd({ resources: [resolution, profile, version] }),
  );
  expect(await strip(psd({ resources: [added] }))).toEqual(psd({ resources: [] }));
});

test("stripPsd removes resources in a PSB and after a palette", async () => {
  const added = resource(1060, `${SECRET}!`, "odd", "MeSa");
  for (const parts of [{ version: 2 as const }, { palette: "a palette" }]) {
    expect(await strip(psd({ ...parts, resources: [added, version] }))).toEqual(
      psd({ ...parts, resources: [version] }),
    );
  }
});

test.each([1005, 1006, 1010, 1026, 1032, 1039, 1045, 1047, 1057, 1065, 1075, 2000, 4000])(
  "stripPsd keeps resource %i",
  async (id) => {
    expect(await stripPsd(psd({ resources: [resource(id, "data")] }))).toBeNull();
  },
);

test("stripPsd finds resources after data without padding", async () => {
  const unpadded = resource(1005, "odd").subarray(0, -1);
  expect(await strip(psd({ resources: [unpadded, resource(1060, SECRET), version] }))).toEqual(
    psd({ resources: [unpadded, version] }),
  );
});

test("stripPsd removes bytes after the last resource that can be parsed", async () => {
  expect(await strip(psd({ resources: [version, Buffer.from(`8BIX${SECRET} and more`)] }))).toEqual(
    psd({ resources: [version] }),
  );
  const overlong = resource(1060, SECRET);
  overlong.writeUInt32BE(0xffffffff, 8);
  expect(await strip(psd({ resources: [version, overlong] }))).toEqual(psd({ resources: [version] }));
});

test("stripPsd refuses a file truncated before the pixels, and bytes that are not a PSD", async () => {
  const whole = psd({ resources: [version, resource(1060, SECRET)] });
  const refusal = expect.objectContaining({ code: "unsupported_media" });
  for (let length = 0; length < whole.length - "\0\0 picture".length; length++) {
    await expect(stripPsd(whole.subarray(0, length)), `${length}`).rejects.toThrow(refusal);
  }
});

test("stripPsd blanks placed files that lie in a layer, and reads any section of layers without another error", async () => {
  const block = Buffer.concat([Buffer.from("8BIMlnkD"), uint32(SECRET.length), Buffer.from(SECRET)]);
  const layers = Buffer.concat([uint32(block.length + 6), Buffer.from("\0\0layer"), block, uint32(0)]);
  const plain = psd({ resources: [] });
  const at = plain.length - 10;
  const withLayers = (section: Buffer) =>
    Buffer.concat([plain.subarray(0, at - 4), uint32(section.length), section, plain.subarray(at)]);
  const stripped = await strip(withLayers(layers));
  expect(stripped.includes(SECRET)).toBe(false);
  expect(stripped).toHaveLength(withLayers(layers).length);
  const endless = Buffer.concat(
    Array.from({ length: 100_000 }, () => Buffer.concat([block.subarray(0, 8), uint32(2 ** 31)])),
  );
  const blank = await strip(withLayers(Buffer.concat([layers.subarray(0, 11), endless])));
  expect(blank.indexOf("lnkD")).toBe(-1);
  for (let step = 0; step < 500; step++) {
    const damaged = Buffer.concat([uint32(0), uint32(0), block, block].toSpliced(step % 3, 1));
    damaged[(step * 31) % damaged.length] = (step * 7) % 256;
    const cut = damaged.subarray(0, damaged.length - (step % 19));
    await strip(withLayers(cut)).catch((error: unknown) => {
      expect(error).toMatchObject({ code: "unsupported_media" });
    });
  }
});
