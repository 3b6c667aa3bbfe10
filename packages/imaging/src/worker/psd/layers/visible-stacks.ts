import type { Layer } from "./layer.ts";

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
