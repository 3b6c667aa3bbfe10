import type { Size } from "@outrigger/core/images";
import type { Placement } from "../../shared/crop.ts";
import { resizedRoot } from "./resize-svg.ts";
import { colourShape, ownColour } from "./root-background.ts";
import { readSvgRoot, withRootAttributes, writeSvgRoot } from "./svg-root.ts";
import { declaredSize, isSizedByCss } from "./svg-size.ts";
import { SVG_NAMESPACE } from "./svg-writer.ts";

/** What a document shows of a drawing. */
export interface SvgFrame {
  size: Size;
  /** Where the whole drawing lies. */
  placed: Placement;
  /** Colour below the drawing: six hexadecimal digits. @default none */
  background?: string | undefined;
}

/**
 * A document that shows a part of a drawing, or more than it. The drawing stays as it is, with its `viewBox`, on which lengths in
 * percent depend, inside a root of its own.
 * @param natural Size of the drawing, used only if it declares none.
 */
export function frameSvg(bytes: Buffer, natural: Size, { size, placed, background }: SvgFrame): Buffer {
  const root = readSvgRoot(bytes);
  const { width, height } = size;
  const drawing = resizedRoot(root, placed, declaredSize(root) ?? natural);
  const style = drawing.attributes.get("style") ?? "";
  const inner = withRootAttributes(drawing, {
    x: String(-placed.left),
    y: String(-placed.top),
    // What lies beside the drawing was never visible.
    style: `${style}${style === "" ? "" : ";"}overflow:hidden!important`,
  });
  const colour = ownColour(root);
  const styles = [
    ...(colour === undefined ? [] : [`background:${colour}`]),
    ...(isSizedByCss(root) ? [`width:${width}px!important;height:${height}px!important`] : []),
  ];
  const shape = background === undefined ? "" : colourShape(`M0 0h${width}v${height}H0z`, `#${background}`);
  return writeSvgRoot({
    attributes: new Map([
      ["xmlns", SVG_NAMESPACE],
      ["width", String(width)],
      ["height", String(height)],
      ["viewBox", `0 0 ${width} ${height}`],
      ...(styles.length === 0 ? [] : [["style", styles.join(";")] as const]),
    ]),
    isEmpty: false,
    content: Buffer.concat([Buffer.from(shape), writeSvgRoot(inner), Buffer.from("</svg>")]),
  });
}
