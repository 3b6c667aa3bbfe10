import { expect, test } from "vitest";
import { resource as plainResource, samplePsd, section } from "../../../../../test/support/psd-samples.ts";
import { stripPsd } from "./strip-psd.ts";

const SECRET = "a secret";
/** The number of the compression, and the pixels. */
const PIXEL_BYTES = 2 + 8;
/** A block of image resources, with a name and a signature. */
function resource(id: number, data: Buffer | string, name = "", signature = "8BIM"): Buffer {
  const block = plainResource(id, Buffer.from(data as string, "latin1"));
  block.write(signature, "latin1");
  if (name === "") return block;
  const named = Buffer.from(`${String.fromCharCode(name.length)}${name}`, "latin1");
  return Buffer.concat([block.subarray(0, 6), named, Buffer.alloc(named.length % 2), block.subarray(8)]);
}

/** A document of 4 by 2 pixels, of which only these resources are in the file. */
function psd({ large = false, palette = "", resources, layers = Buffer.alloc(0) }: PsdParts): Buffer {
  const whole = samplePsd({
    width: 4,
    height: 2,
    mode: "indexed",
    compression: "raw",
    channels: [[0, 1, 2, 3, 4, 5, 6, 7]],
    palette: Buffer.from(palette),
    large,
    layers,
  });
  const at = 26 + 4 + palette.length;
  const rest = whole.subarray(at + 4 + whole.readUInt32BE(at));
  return Buffer.concat([whole.subarray(0, at), section(Buffer.concat(resources)), rest]);
}

interface PsdParts {
  large?: boolean;
  palette?: string;
  resources: Buffer[];
  layers?: Buffer;
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
  for (const parts of [{ large: true }, { palette: "a palette" }]) {
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
  for (let length = 0; length < whole.length - PIXEL_BYTES; length++) {
    await expect(stripPsd(whole.subarray(0, length)), `${length}`).rejects.toThrow(refusal);
  }
});

test("stripPsd blanks placed files that lie in a layer, and reads any section of layers without another error", async () => {
  const block = Buffer.concat([Buffer.from("8BIMlnkD"), section(Buffer.from(SECRET))]);
  const none = Buffer.alloc(4);
  const layers = Buffer.concat([section(Buffer.concat([Buffer.from("\0\0layer"), block])), none]);
  const withLayers = (section: Buffer) => psd({ resources: [], layers: section });
  const stripped = await strip(withLayers(layers));
  expect(stripped.includes(SECRET)).toBe(false);
  expect(stripped).toHaveLength(withLayers(layers).length);
  const endless = Buffer.concat(
    Array.from({ length: 100_000 }, () => Buffer.concat([block.subarray(0, 8), Buffer.of(0x80, 0, 0, 0)])),
  );
  const blank = await strip(withLayers(Buffer.concat([layers.subarray(0, 11), endless])));
  expect(blank.indexOf("lnkD")).toBe(-1);
  for (let step = 0; step < 500; step++) {
    const damaged = Buffer.concat([none, none, block, block].toSpliced(step % 3, 1));
    damaged[(step * 31) % damaged.length] = (step * 7) % 256;
    const cut = damaged.subarray(0, damaged.length - (step % 19));
    await strip(withLayers(cut)).catch((error: unknown) => {
      expect(error).toMatchObject({ code: "unsupported_media" });
    });
  }
});
