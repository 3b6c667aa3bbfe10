import { oddGifs } from "./gif.ts";
import * as gifEncoders from "./gif-encoders.ts";
import { installedSamples } from "./installed.ts";
import { oddJpegs } from "./jpeg.ts";
import { damages } from "./jpeg-damages.ts";
import * as jpegEncoders from "./jpeg-encoders.ts";
import { oddSvgs } from "./odd-svgs.ts";
import { pdfSamples } from "./pdf.ts";
import { encodedPngs, oddPngs } from "./png.ts";
import { psdSamples } from "./psd.ts";
import type { Sample } from "./sample.ts";
import { svgSamples } from "./svg.ts";

/** Every file of the corpus. */
export async function corpus(): Promise<Sample[]> {
  const samples = [
    ...[...oddPngs(), ...(await encodedPngs())],
    ...[...oddJpegs(), ...(await damages())],
    ...[...(await jpegEncoders.bySharp()), ...(await jpegEncoders.byImageMagick())],
    ...[...oddGifs(), ...(await gifEncoders.bySharp()), ...(await gifEncoders.byImageMagick())],
    ...[...(await svgSamples()), ...(await psdSamples()), ...(await pdfSamples())],
    ...(await oddSvgs()),
    ...(await installedSamples()),
  ];
  const names = new Set(samples.map(({ name }) => name));
  if (names.size !== samples.length) throw new Error("Two samples have the same name");
  return samples;
}
