import type { Bomb } from "./bomb.ts";
import { convertibles } from "./convertible-bombs.ts";
import { pdfs, psds } from "./document-bombs.ts";
import { gifs, jpegs, pngs } from "./raster-bombs.ts";
import { svgs } from "./svg-bombs.ts";

export async function bombsByKind(): Promise<[kind: string, Bomb[]][]> {
  return [
    ["PNG, GIF and JPEG", [...pngs(), ...gifs(), ...(await jpegs())]],
    ["SVG", svgs()],
    ["PSD and PDF", [...psds(), ...pdfs()]],
    ["convertible type", await convertibles()],
  ];
}

export async function bombs(): Promise<Bomb[]> {
  return (await bombsByKind()).flatMap(([, list]) => list);
}
