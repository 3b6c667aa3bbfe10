import { gifSamples } from "./gif.ts";
import { installedSamples } from "./installed.ts";
import { jpegSamples } from "./jpeg.ts";
import { pdfSamples } from "./pdf.ts";
import { pngSamples } from "./png.ts";
import { psdSamples } from "./psd.ts";
import type { Sample } from "./sample.ts";
import { svgSamples } from "./svg.ts";

/** Every file of the corpus. */
export async function corpus(): Promise<Sample[]> {
  const made = [pngSamples, jpegSamples, gifSamples, svgSamples, psdSamples, pdfSamples, installedSamples];
  const samples: Sample[] = [];
  for (const make of made) samples.push(...(await make()));
  const names = new Set(samples.map(({ name }) => name));
  if (names.size !== samples.length) throw new Error("Two samples have the same name");
  return samples;
}
