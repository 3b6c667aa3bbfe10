import { deflateSync } from "node:zlib";
import { firstObjectOf, type SampleObject } from "../../support/pdf-samples.ts";
import { sceneRgb } from "./sample.ts";
import { writeJpeg } from "./write-jpeg.ts";

const FIRST = firstObjectOf(1);

export function images(): Record<string, SampleObject[]> {
  const [width, height] = [24, 16];
  const rgb = sceneRgb(width, height);
  const head = (more: string, space = "/DeviceRGB", bits = 8) =>
    `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/ColorSpace ${space}/BitsPerComponent ${bits}${more}`;
  const flate = (data: Buffer, more = "", space?: string, bits?: number): SampleObject => ({
    dictionary: head(`/Filter/FlateDecode${more}`, space, bits),
    data: deflateSync(data),
  });
  const jpeg = (space: "grey" | "ycc" | "cmyk" | "rgb") =>
    writeJpeg({ width, height, space, ...(space === "cmyk" || space === "rgb" ? { adobe: 0 } : {}) });
  const grey = Buffer.from(Array.from({ length: width * height }, (_, place) => rgb[place * 3 + 1] ?? 0));
  const bits = Buffer.from(
    Array.from({ length: (width * height) / 8 }, (_, index) => (index % 3 === 0 ? 0xf0 : 0x3c)),
  );
  const predicted = Buffer.concat(
    Array.from({ length: height }, (_, row) =>
      Buffer.concat([Buffer.of(0), rgb.subarray(row * width * 3, (row + 1) * width * 3)]),
    ),
  );
  return {
    raw: [{ dictionary: head(""), data: rgb }],
    Flate: [flate(rgb)],
    "Flate predicted": [flate(predicted, `/DecodeParms<</Predictor 15/Colors 3/Columns ${width}>>`)],
    hexadecimal: [{ dictionary: head("/Filter/ASCIIHexDecode"), data: `${rgb.toString("hex")}>` }],
    "two filters": [
      {
        dictionary: head("/Filter[/ASCIIHexDecode/FlateDecode]"),
        data: `${deflateSync(rgb).toString("hex")}>`,
      },
    ],
    grey: [flate(grey, "", "/DeviceGray")],
    "1 bit": [flate(bits, "", "/DeviceGray", 1)],
    "1 bit inverted": [flate(bits, "/Decode[1 0]", "/DeviceGray", 1)],
    "4 bits": [flate(grey.subarray(0, grey.length / 2), "", "/DeviceGray", 4)],
    "16 bits": [flate(Buffer.concat([grey, grey]), "", "/DeviceGray", 16)],
    indexed: [
      flate(
        Buffer.from(grey.map((value) => value >> 6)),
        "",
        "[/Indexed/DeviceRGB 3<ff000000ff000000ffffff00>]",
      ),
    ],
    "stencil mask": [
      {
        dictionary: `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/ImageMask true/BitsPerComponent 1`,
        data: bits,
      },
    ],
    "soft mask": [flate(rgb, `/SMask ${FIRST + 1} 0 R`), flate(grey, "", "/DeviceGray")],
    "colour key mask": [flate(grey, "/Mask[100 180]", "/DeviceGray")],
    interpolated: [flate(rgb, "/Interpolate true")],
    JPEG: [{ dictionary: head("/Filter/DCTDecode"), data: jpeg("ycc") }],
    "JPEG grey": [{ dictionary: head("/Filter/DCTDecode", "/DeviceGray"), data: jpeg("grey") }],
    "JPEG RGB": [{ dictionary: head("/Filter/DCTDecode"), data: jpeg("rgb") }],
    "JPEG CMYK": [
      { dictionary: head("/Filter/DCTDecode/Decode[1 0 1 0 1 0 1 0]", "/DeviceCMYK"), data: jpeg("cmyk") },
    ],
    "JPEG without end": [{ dictionary: head("/Filter/DCTDecode"), data: jpeg("ycc").subarray(0, -2) }],
    "JPEG of another size": [
      { dictionary: head("/Filter/DCTDecode").replace("/Width 24", "/Width 30"), data: jpeg("ycc") },
    ],
    "pixels missing": [{ dictionary: head(""), data: rgb.subarray(0, rgb.length / 2) }],
  };
}
