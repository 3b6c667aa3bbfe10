/** How a pattern is laid into a layer. */
export interface PatternShape {
  /** 1 for the pattern's own size. */
  scale: number;
  /** Degrees, counter-clockwise. */
  angle: number;
}

const MIN_SCALE = 0.01;
const MAX_SCALE = 10;

/**
 * Reads scale and angle of each pattern that fills a layer, in the order of the layers. ag-psd does not read them. A
 * block begins with its signature and key; that of a shape repeats the key after its length.
 */
export function readPatternShapes(layers: Buffer): PatternShape[] {
  const shapes: PatternShape[] = [];
  for (let at = layers.indexOf("PtFl"); at >= 0; at = layers.indexOf("PtFl", at + 4)) {
    const isBlock = at >= 4 && layers.toString("latin1", at - 4, at) === "8BIM";
    const isShape = at >= 12 && layers.toString("latin1", at - 12, at - 4) === "8BIMvscg";
    const lengthAt = isBlock ? at + 4 : at - 4;
    if ((!isBlock && !isShape) || lengthAt + 4 > layers.length) continue;
    const block = layers.subarray(lengthAt + 4, lengthAt + 4 + layers.readUInt32BE(lengthAt));
    const scale = numberAfter(block, "Scl UntF#Prc", 100) / 100;
    shapes.push({
      scale: Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale)),
      angle: numberAfter(block, "AnglUntF#Ang", 0) % 360,
    });
  }
  return shapes;
}

function numberAfter(block: Buffer, key: string, otherwise: number): number {
  const at = block.indexOf(key) + key.length;
  if (at < key.length || at + 8 > block.length) return otherwise;
  const value = block.readDoubleBE(at);
  return Number.isFinite(value) ? value : otherwise;
}
