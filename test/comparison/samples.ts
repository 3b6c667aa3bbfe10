import sharp from "sharp";
import { numberedPdf } from "../support/numbered-pdf.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { samplePsd } from "../support/psd-samples.ts";

const TRACKER = "https://tracker.example/dot.png";

/** An SVG with a script, a handler, and a picture of another site. */
export const HOSTILE_SVG = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10" onload="alert(1)"><script>alert(1)</script>
<rect width="10" height="10"/><image href="${TRACKER}" width="5" height="5"/></svg>`,
);
export { TRACKER };

/** What every system of the comparison is asked about. */
export interface Samples {
  photo: Buffer;
  /** The photo with its author and place. */
  tagged: Buffer;
  psd: Buffer;
  pdf: Buffer;
  /** A PNG of some 100 kB that has 400 million pixels. */
  bomb: Buffer;
}

export async function createSamples(): Promise<Samples> {
  const photo = await jpegPhoto(400, 300);
  const exif = { IFD0: { Artist: "Ada" }, IFD3: { GPSLatitude: "51/1 30/1 0/1" } };
  const channel = [0, 80, 160, 240];
  const blank = { width: 20_000, height: 20_000, channels: 3 as const, background: "red" };
  return {
    photo,
    tagged: await sharp(photo).withExif(exif).jpeg().toBuffer(),
    psd: samplePsd({ width: 2, height: 2, channels: [channel, channel, channel] }),
    pdf: numberedPdf(2),
    bomb: await sharp({ create: blank, limitInputPixels: false }).png({ compressionLevel: 9 }).toBuffer(),
  };
}
