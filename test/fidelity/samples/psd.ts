import { layerSection } from "../../support/psd-layer-section.ts";
import { PSD_COMPRESSIONS, resource, samplePsd, section } from "../../support/psd-samples.ts";
import { channelsOf, type Mode, PSD_SIZE as SIZE } from "./psd-channels.ts";
import { byImageMagick, byPsdTools, mergedByAgPsd, profileOf } from "./psd-encoders.ts";
import { type Sample, sample } from "./sample.ts";

/** PSDs and PSBs of every mode, depth and compression, of several writers. */
export async function psdSamples(): Promise<Sample[]> {
  const cmyk = await profileOf("cmyk");
  return [
    ...modes(cmyk),
    ...transparencies(cmyk),
    ...profiles(await profileOf("p3")),
    ...mergedByAgPsd(),
    ...(await byImageMagick()),
    ...(await byPsdTools()),
  ];
}

const FORMS: readonly (readonly [Mode, 1 | 8 | 16, number])[] = [
  ["bitmap", 1, 1],
  ["greyscale", 8, 1],
  ["greyscale", 16, 1],
  ["indexed", 8, 1],
  ["duotone", 8, 1],
  ["rgb", 8, 3],
  ["rgb", 16, 3],
  ["cmyk", 8, 4],
  ["cmyk", 16, 4],
  ["lab", 8, 3],
  ["lab", 16, 3],
];

const palette = Buffer.from(
  Array.from({ length: 768 }, (_, index) => (index < 256 ? index : index < 512 ? 255 - (index - 256) : 90)),
);

function modes(cmyk: Buffer): Sample[] {
  const found: Sample[] = [];
  for (const [mode, depth, count] of FORMS) {
    for (const compression of Object.keys(PSD_COMPRESSIONS) as (keyof typeof PSD_COMPRESSIONS)[]) {
      for (const large of compression === "packed" ? [false, true] : [false]) {
        const channels = channelsOf(mode, depth, count);
        const more = {
          ...(mode === "indexed" ? { palette } : mode === "duotone" ? { palette: Buffer.alloc(40) } : {}),
          ...(mode === "cmyk" ? { iccProfile: cmyk } : {}),
        };
        const bytes = samplePsd({ ...SIZE, mode, depth, compression, large, channels, ...more });
        found.push(sample("psd", `${mode} ${count} x ${depth} ${compression}${large ? " PSB" : ""}`, bytes));
      }
    }
  }
  const indexed = { ...SIZE, mode: "indexed", channels: channelsOf("indexed", 8, 1), palette } as const;
  found.push(
    sample("psd", "indexed with a transparent colour", samplePsd({ ...indexed, transparentIndex: 128 })),
  );
  return found;
}

/** Colours of a wide gamut, and inks without a profile. */
function profiles(p3: Buffer): Sample[] {
  return ([8, 16] as const).flatMap((depth) => {
    const rgb = { ...SIZE, depth, channels: channelsOf("rgb", depth, 3), iccProfile: p3 };
    const inks = { ...SIZE, depth, mode: "cmyk", channels: channelsOf("cmyk", depth, 4) } as const;
    return [
      sample("psd", `Display P3 ${depth}`, samplePsd(rgb)),
      sample("psd", `inks without a profile ${depth}`, samplePsd(inks)),
    ];
  });
}

function transparencies(cmyk: Buffer): Sample[] {
  const found: Sample[] = [];
  for (const [mode, depth, count] of FORMS) {
    if (depth === 1 || (mode !== "greyscale" && mode !== "rgb" && mode !== "cmyk")) continue;
    const channels = channelsOf(mode, depth, count, true);
    const samples = Object.fromEntries(
      Array.from({ length: count + 1 }, (_, index) => [index - 1, 2 ** depth - 1]),
    );
    for (const large of [false, true]) {
      const layers = layerSection([{ width: 9, height: 7, samples }], depth, large);
      const put = (name: string, bytes: Buffer) =>
        found.push(sample("psd", `${mode} ${depth} with ${name}${large ? " PSB" : ""}`, bytes));
      const file = { ...SIZE, mode, depth, large, ...(mode === "cmyk" ? { iccProfile: cmyk } : {}) };
      const negative = negated(layers, depth, large);
      put("alpha", samplePsd({ ...file, channels, layers: negative }));
      put("a spare channel", samplePsd({ ...file, channels, layers }));
      put(
        "alpha and a spare channel",
        samplePsd({ ...file, channels: [...channels, channels[0] ?? []], layers: negative }),
      );
      put(
        "a channel named Transparency",
        withResource(samplePsd({ ...file, channels, layers }), resource(1053, Buffer.alloc(4))),
      );
    }
  }
  return found;
}

/** A section of layers whose count is negative: the first spare channel is the alpha of the merged picture. */
function negated(section: Buffer, depth: number, large: boolean): Buffer {
  const start = depth === 8 ? 0 : section.indexOf("8BIMLr") + 8;
  const at = start + (large ? 8 : 4);
  const changed = Buffer.from(section);
  changed.writeInt16BE(-section.readInt16BE(at), at);
  return changed;
}

/** A file with one more block of image resources. Its colour mode data are empty. */
function withResource(bytes: Buffer, block: Buffer): Buffer {
  const at = 26 + 4;
  const rest = at + 4 + bytes.readUInt32BE(at);
  return Buffer.concat([
    bytes.subarray(0, at),
    section(Buffer.concat([bytes.subarray(at + 4, rest), block])),
    bytes.subarray(rest),
  ]);
}
