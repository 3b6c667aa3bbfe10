import type { ImageFormat, OriginalType } from "@outrigger/core";

/**
 * Raised by one, for a type, a format or a single conversion, when its renditions are to look different than before: stored ones
 * with a lower number are then made anew behind the replies. An invisible change, such as another encoder with the same
 * settings, stays out of here: the build tells those bytes apart.
 */
const RAISED: { type?: OriginalType; format?: ImageFormat; by: number }[] = [];

/** `Renderer.look`. */
export function look(type: OriginalType, format: ImageFormat): number {
  return RAISED.filter((each) => (each.type ?? type) === type && (each.format ?? format) === format).reduce(
    (sum, { by }) => sum + by,
    1,
  );
}
