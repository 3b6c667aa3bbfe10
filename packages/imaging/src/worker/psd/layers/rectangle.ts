/** Whole pixels of the canvas. `right` and `bottom` are not part of it. */
export interface Rectangle {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export function widthOf({ left, right }: Rectangle): number {
  return Math.max(0, right - left);
}

export function heightOf({ top, bottom }: Rectangle): number {
  return Math.max(0, bottom - top);
}

export function areaOf(rectangle: Rectangle): number {
  return widthOf(rectangle) * heightOf(rectangle);
}

export function intersect(one: Rectangle, other: Rectangle): Rectangle {
  return {
    left: Math.max(one.left, other.left),
    top: Math.max(one.top, other.top),
    right: Math.min(one.right, other.right),
    bottom: Math.min(one.bottom, other.bottom),
  };
}

/** The smallest rectangle around all non-empty ones; empty when there are none. */
export function enclose(rectangles: readonly Rectangle[]): Rectangle {
  const [first, ...others] = rectangles.filter((rectangle) => areaOf(rectangle) > 0);
  if (first === undefined) return { left: 0, top: 0, right: 0, bottom: 0 };
  return others.reduce(
    (all, { left, top, right, bottom }) => ({
      left: Math.min(all.left, left),
      top: Math.min(all.top, top),
      right: Math.max(all.right, right),
      bottom: Math.max(all.bottom, bottom),
    }),
    first,
  );
}
