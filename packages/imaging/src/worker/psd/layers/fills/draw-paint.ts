import { areaOf, type Rectangle } from "../rectangle.ts";
import { drawGradient } from "./gradient.ts";
import { drawPattern } from "./pattern.ts";
import type { Paint } from "./read-paint.ts";

/** Draws the part of a filling within `area` as 8-bit RGBA. Rejects with `unsupported_media` for a damaged pattern. */
export async function drawPaint(paint: Paint, area: Rectangle): Promise<Buffer> {
  switch (paint.kind) {
    case "solid":
      return Buffer.alloc(areaOf(area) * 4, Buffer.from([...paint.colour, 0xff]));
    case "gradient":
      return drawGradient(paint, area);
    case "pattern":
      return await drawPattern(paint, area);
  }
}
