import type { Bomb } from "./bomb.ts";
import { convertibles } from "./convertible-bombs.ts";
import { pdfs, psds } from "./document-bombs.ts";
import { gifs, jpegs, pngs } from "./raster-bombs.ts";
import { svgs } from "./svg-bombs.ts";

export async function bombs(): Promise<Bomb[]> {
  return [
    ...pngs(),
    ...gifs(),
    ...(await jpegs()),
    ...svgs(),
    ...psds(),
    ...pdfs(),
    ...(await convertibles()),
  ];
}
