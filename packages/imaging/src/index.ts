export { createRenderer } from "./renderer.ts";
export type { RendererOptions } from "./renderer-options.ts";
