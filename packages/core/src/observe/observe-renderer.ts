import type { Observer } from "../contracts/observer.ts";
import type { Renderer } from "../contracts/renderer.ts";
import { overlay } from "./overlay.ts";

/**
 * The same renderer, its work observed: an admission or a render lasts from its turn, so what it waited in line does not count.
 */
export function observeRenderer<R extends Renderer>(renderer: R, observer: Observer): R {
  return overlay(renderer, {
    admit: (source, type, options, work) =>
      observer.observe({ kind: "admit", type }, () => renderer.admit(source, type, options, work)),
    render: (source, type, spec, work) =>
      observer.observe({ kind: "render", type, format: spec.format }, () =>
        renderer.render(source, type, spec, work),
      ),
  } satisfies Pick<Renderer, "admit" | "render">);
}
