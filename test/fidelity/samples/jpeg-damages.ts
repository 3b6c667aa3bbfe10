import sharp from "sharp";
import { type Sample, sample, sceneRgb } from "./sample.ts";
import { segment, writeJpeg } from "./write-jpeg.ts";

const text = (value: string) => Buffer.from(value, "latin1");

/** What byte-level edits of a photo leave, for a baseline and a progressive one. */
export async function damages(): Promise<Sample[]> {
  const [width, height] = [160, 120];
  const scene = sharp(sceneRgb(width, height), { raw: { width, height, channels: 3 } });
  const forms: Record<string, Buffer> = {
    baseline: await scene.jpeg({ quality: 88 }).toBuffer(),
    progressive: await scene.jpeg({ quality: 88, progressive: true }).toBuffer(),
    "with restarts": writeJpeg({ width, height, restart: 10, jfif: true }),
  };
  const found: Sample[] = [];
  for (const [form, whole] of Object.entries(forms)) {
    const put = (name: string, bytes: Buffer) => found.push(sample("jpeg", `${form}, ${name}`, bytes));
    const scanAt = whole.indexOf(Buffer.of(0xff, 0xda));
    const insert = (at: number, bytes: Buffer) =>
      Buffer.concat([whole.subarray(0, at), bytes, whole.subarray(at)]);
    const tableAt = whole.indexOf(Buffer.of(0xff, 0xdb));
    const frameAt = whole.indexOf(Buffer.of(0xff, form === "progressive" ? 0xc2 : 0xc0));
    const cut = (share: number) => whole.subarray(0, scanAt + Math.round((whole.length - scanAt) * share));
    if (form !== "progressive") {
      const selection = scanAt + 2 + whole.readUInt16BE(scanAt + 2) - 3;
      for (const values of [
        [0, 0, 0],
        [0, 63, 1],
        [1, 63, 0],
        [0, 62, 0],
      ] as const) {
        put(
          `spectral selection ${values.join(" ")}`,
          Buffer.concat([whole.subarray(0, selection), Buffer.from(values), whole.subarray(selection + 3)]),
        );
      }
    }
    for (const [place, at] of Object.entries({
      tables: tableAt,
      frame: frameAt,
      scan: scanAt,
      end: whole.length - 2,
    })) {
      put(`a fill byte before the ${place}`, insert(at, Buffer.of(0xff)));
      put(`100 fill bytes before the ${place}`, insert(at, Buffer.alloc(100, 0xff)));
      put(`five foreign bytes before the ${place}`, insert(at, Buffer.of(1, 2, 3, 4, 5)));
      put(`a zero byte before the ${place}`, insert(at, Buffer.of(0)));
      put(`3000 zero bytes before the ${place}`, insert(at, Buffer.alloc(3000)));
    }
    put("without its end marker", whole.subarray(0, -2));
    put("one byte of its end marker", whole.subarray(0, -1));
    put("two end markers", Buffer.concat([whole, whole.subarray(-2)]));
    put("zeros for its end marker", Buffer.concat([whole.subarray(0, -2), Buffer.alloc(64)]));
    put("text after its end", Buffer.concat([whole, text("trailing data")]));
    put("a second picture after its end", Buffer.concat([whole, whole]));
    put("a video after its end", Buffer.concat([whole, text("\0\0\0\x18ftypmp42"), Buffer.alloc(5000, 9)]));
    put("zeros after its end", Buffer.concat([whole, Buffer.alloc(4096)]));
    for (const share of [0.3, 0.6, 0.97, 0.995]) put(`cut at ${share * 100} %`, cut(share));
    put("last 10 bytes of pixels missing", Buffer.concat([whole.subarray(0, -12), whole.subarray(-2)]));
    const flipped = Buffer.from(whole);
    const middle = scanAt + ((whole.length - scanAt) >> 1);
    flipped[middle] = (flipped[middle] ?? 0) ^ 0x10;
    put("a flipped bit in the pixels", flipped);
    put("a foreign marker in the pixels", insert(middle, Buffer.of(0xff, 0x01)));
    put(
      "an application segment of a wrong length",
      insert(2, Buffer.concat([segment(0xe5, text("12345678")), text("extra")])),
    );
  }
  return found;
}
