import type { StoredRows } from "../stored-rows.ts";
import type { Paint } from "./fills/read-paint.ts";
import type { Rectangle } from "./rectangle.ts";
import type { VectorMask } from "./vector-mask.ts";

/** A layer or a group of layers. */
export interface Layer {
  /** Photoshop's name: `"normal"`, `"pass through"`, `"multiply"` and so on. */
  blendMode: string;
  /** 0 to 1. For a layer, fill opacity included. */
  opacity: number;
  visible: boolean;
  /** Whether the layer is clipped to the nearest unclipped layer below it. */
  clipped: boolean;
  mask: LayerMask | null;
  vectorMask: VectorMask | null;
  /** The area of a layer's pixels, or of a group's layers. */
  bounds: Rectangle;
  content: LayerChannels | LayerFill | LayerGroup | LayerOmitted;
}

/** The pixels of a layer, not unpacked yet. */
export interface LayerChannels {
  kind: "channels";
  /** Red, green and blue, or grey alone. */
  colours: readonly StoredRows[];
  /** `null` when the layer is opaque. */
  alpha: StoredRows | null;
}

/** A layer that has a colour, gradient or pattern instead of pixels. */
interface LayerFill {
  kind: "fill";
  paint: Paint;
}

/** A layer that cannot be drawn. Its bounds are empty. */
interface LayerOmitted {
  kind: "omitted";
  /** What its only content is: a noun. */
  reason: string;
}

interface LayerGroup {
  kind: "group";
  /** Layers from the lowest to the topmost. */
  layers: readonly Layer[];
}

export interface LayerMask {
  bounds: Rectangle;
  /** The value of the mask outside its bounds, 0 to 255. */
  outside: number;
  /** Strength of the mask, 0 to 1. */
  density: number;
  /** `null` when its bounds are empty. */
  stored: StoredRows | null;
}

/** A layer and the layers above that are clipped to it. */
interface Stack {
  base: Layer;
  /** From the lowest to the topmost. */
  clipped: Layer[];
}

/** The visible layers. Layers clipped to a hidden layer are hidden too. */
export function visibleStacks(layers: readonly Layer[]): Stack[] {
  const stacks: Stack[] = [];
  for (const layer of layers) {
    const below = stacks.at(-1);
    if (!layer.clipped || below === undefined) stacks.push({ base: layer, clipped: [] });
    else if (layer.visible) below.clipped.push({ ...layer, clipped: false });
  }
  return stacks.filter(({ base }) => base.visible && base.opacity > 0);
}
