import type { FoundPlace, OriginalType, Size } from "@outrigger/core/images";
import sharp from "sharp";
import { clamp, type Placement } from "../shared/crop.ts";
import { fitInside } from "../shared/fit.ts";
import type { PictureLimits } from "../shared/wire.ts";
import { awaitLibvips, readPixels } from "./libvips.ts";
import type { Picture } from "./picture.ts";

/** Pixels of the longer side on which a place is searched. The search takes time in proportion to the pixels. */
const SEARCHED_SIDE = 512;

/** Finds the part of `size` in the first frame of a picture that is drawn as `drawn`. */
export async function findPlace(
  picture: Picture,
  drawn: Size & { at: FoundPlace },
  size: Size,
  { type, limits }: { type: OriginalType; limits: PictureLimits },
): Promise<Placement> {
  const { width, height, at } = drawn;
  const reduced = fitInside(drawn, {
    maxWidth: SEARCHED_SIDE,
    maxHeight: SEARCHED_SIDE,
    enlarge: false,
    maxSide: SEARCHED_SIDE,
    maxPixels: SEARCHED_SIDE ** 2,
  });
  const image = (await picture.decode({ drawnAs: reduced })).resize({ ...reduced, fit: "fill" });
  const { pixels, channels } = await readPixels(image, type, limits);
  const window = {
    width: clamp(Math.round((size.width * reduced.width) / width), 1, reduced.width),
    height: clamp(Math.round((size.height * reduced.height) / height), 1, reduced.height),
  };
  const search = sharp(pixels, { raw: { ...reduced, channels } })
    .resize({ ...window, fit: "cover", position: sharp.strategy[at] })
    .raw();
  const { info } = await awaitLibvips(type, limits, search.toBuffer({ resolveWithObject: true }));
  // sharp gives the offset of the picture in the window: negative.
  const { cropOffsetLeft = 0, cropOffsetTop = 0 } = info;
  const left = Math.round((-cropOffsetLeft * width) / reduced.width);
  const top = Math.round((-cropOffsetTop * height) / reduced.height);
  return {
    width,
    height,
    left: clamp(left, 0, width - size.width),
    top: clamp(top, 0, height - size.height),
  };
}
