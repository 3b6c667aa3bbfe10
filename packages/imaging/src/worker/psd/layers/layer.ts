import type { StoredRows } from "../stored-rows.ts";
import type { Rectangle } from "./rectangle.ts";

/** A layer or a group of layers. */
export interface Layer {
  /** In Photoshop's words: `"normal"`, `"pass through"`, `"multiply"` and so on. */
  blendMode: string;
  /** 0 to 1: for a layer, that of the fill included. */
  opacity: number;
  visible: boolean;
  /** Whether it is only seen where the first layer below it that is not clipped is opaque. */
  clipped: boolean;
  mask: LayerMask | null;
  /** The place of the pixels of a layer; of a group, the area of its layers. */
  bounds: Rectangle;
  content: LayerChannels | LayerGroup;
}

/** The pixels of a layer, not unpacked yet. */
export interface LayerChannels {
  kind: "channels";
  /** Red, green and blue, or grey alone. */
  colours: readonly StoredRows[];
  /** `null` when the layer is opaque. */
  alpha: StoredRows | null;
}

export interface LayerGroup {
  kind: "group";
  /** From the lowest to the topmost. */
  layers: readonly Layer[];
}

export interface LayerMask {
  bounds: Rectangle;
  /** The value of the mask outside its bounds, of 255. */
  outside: number;
  /** 0 to 1: how much of the mask takes effect. */
  density: number;
  /** `null` when its bounds are empty. */
  stored: StoredRows | null;
}

/** A layer and those above it that are clipped to it. */
export interface Stack {
  base: Layer;
  /** From the lowest to the topmost. */
  clipped: Layer[];
}

/** The layers that are seen. Those that are clipped to a hidden layer are as hidden as that. */
export function visibleStacks(layers: readonly Layer[]): Stack[] {
  const stacks: Stack[] = [];
  for (const layer of layers) {
    const below = stacks.at(-1);
    if (!layer.clipped || below === undefined) stacks.push({ base: layer, clipped: [] });
    else if (layer.visible) below.clipped.push({ ...layer, clipped: false });
  }
  return stacks.filter(({ base }) => base.visible && base.opacity > 0);
}
