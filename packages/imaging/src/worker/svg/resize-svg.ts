import type { Size } from "@outrigger/core/images";
import type { Placement } from "../../shared/fit.ts";
import {
  colourShape,
  declaredSize,
  type ExactSize,
  isSizedByCss,
  isUndrawn,
  ownColour,
  readSvgRoot,
  readViewBox,
  type SvgRoot,
  withRootAttributes,
  writeSvgRoot,
} from "./svg-root.ts";
import { SVG_NAMESPACE } from "./svg-writer.ts";

/**
 * Sets `width` and `height` of a drawing, which then fills `size` as a raster would. A missing `viewBox` is added with
 * the old size. A document that is not clean is cleaned first.
 *
 * @param natural the old size, such as a picture's `natural`. It is used only if the document declares none.
 */
export function resizeSvg(bytes: Buffer, size: Size, natural: ExactSize = size): Buffer {
  const root = readSvgRoot(bytes);
  return writeSvgRoot(resizedRoot(root, size, declaredSize(root) ?? natural));
}

/** Resizes as {@link resizeSvg} does, for a document already parsed and measured. */
export function resizedRoot(root: SvgRoot, size: Size, natural: ExactSize): SvgRoot {
  const { attributes } = root;
  const declared = readViewBox(root);
  const viewBox = declared ?? { x: 0, y: 0, ...natural };
  const changes: Record<string, string> = {
    width: String(size.width),
    height: String(size.height),
  };
  if (isSizedByCss(root)) changes.style = withSize(attributes.get("style") ?? "", size);
  if (declared === undefined && !isUndrawn(root)) changes.viewBox = `0 0 ${natural.width} ${natural.height}`;
  // Whole pixels rarely match the aspect ratio exactly, which would leave bars of half a pixel.
  if (!isLetterboxed(viewBox, natural) && !hasShape(viewBox, size)) changes.preserveAspectRatio = "none";
  return withRootAttributes(root, changes);
}

/** A `style` that no style sheet overrides. */
function withSize(style: string, { width, height }: Size): string {
  const others = style.replace(/(?:^|;)(?:width|height):[^;"']*(?=;|$)/gi, "");
  return `${others};width:${width}px!important;height:${height}px!important`.replace(/^;/, "");
}

/** Whether the drawing, at its own aspect ratio, has bars or is cut by a unit or more. Then that is intended. */
function isLetterboxed(viewBox: ExactSize, natural: ExactSize): boolean {
  const across = natural.width / viewBox.width;
  const down = natural.height / viewBox.height;
  return across > down
    ? natural.width - down * viewBox.width >= 1
    : natural.height - across * viewBox.height >= 1;
}

function hasShape(shape: ExactSize, size: Size): boolean {
  return Math.abs((shape.width * size.height) / (shape.height * size.width) - 1) < 1e-9;
}

/** What a document shows of a drawing. */
interface SvgFrame {
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
