export { type FontCoverage, hasLatinFont, measureFontCoverage, type Script } from "./fonts.ts";
export { createRenderer } from "./renderer.ts";
export type { RendererOptions } from "./renderer-options.ts";
export { RENDERER_RULES } from "./renderer-options.ts";
