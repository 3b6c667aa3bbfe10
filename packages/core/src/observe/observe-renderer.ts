import type { Observer } from "../contracts/observer.ts";
import type { Renderer } from "../contracts/renderer.ts";
import { overlay } from "./overlay.ts";

/**
 * Wraps a renderer so that its work is observed. An admission or render is measured from its turn, without
 * its time in the queue.
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
