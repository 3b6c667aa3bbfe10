import type { Size } from "@outrigger/core";
import { readSvgRoot, type SvgRoot, withRootAttributes } from "./svg-root.ts";
import { declaredSize, type ExactSize, isSizedByCss, readViewBox } from "./svg-size.ts";

/**
 * The same drawing with `size` as its `width` and `height`, which it fills as a raster would. A `viewBox` of the old
 * size is added where there is none. `bytes` is a clean document; another one is cleaned first.
 *
 * @param natural The old size, such as a picture's `natural`. It matters only where the document does not tell it.
 */
export function resizeSvg(bytes: Buffer, size: Size, natural: ExactSize = size): Buffer {
  const root = readSvgRoot(bytes);
  return resizeRoot(root, size, declaredSize(root) ?? natural);
}

/** The same for a document that is taken apart and measured already. */
export function resizeRoot(root: SvgRoot, size: Size, natural: ExactSize): Buffer {
  const { attributes } = root;
  const declared = readViewBox(root);
  const viewBox = declared ?? { x: 0, y: 0, ...natural };
  const changes: Record<string, string> = {
    width: String(size.width),
    height: String(size.height),
  };
  if (isSizedByCss(root)) changes.style = withSize(attributes.get("style") ?? "", size);
  if (declared === undefined) changes.viewBox = `0 0 ${natural.width} ${natural.height}`;
  // Whole pixels are seldom exactly of its shape, and bars of half a pixel would be left.
  if (!isLetterboxed(viewBox, natural) && !hasShape(viewBox, size)) changes.preserveAspectRatio = "none";
  return withRootAttributes(root, changes);
}

/** A `style` that no style sheet overrides. */
function withSize(style: string, { width, height }: Size): string {
  const others = style.replace(/(?:^|;)(?:width|height):[^;"']*(?=;|$)/gi, "");
  return `${others};width:${width}px!important;height:${height}px!important`.replace(/^;/, "");
}

/** Whether the drawing leaves bars, or is cut, of a unit or more where it keeps its shape: that is how it is meant. */
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
