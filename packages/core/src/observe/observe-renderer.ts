import type { Observer } from "../contracts/observer.ts";
import { hasQueueProbe } from "../contracts/queue-probe.ts";
import type { Renderer } from "../contracts/renderer.ts";
import { overlay } from "./overlay.ts";

/**
 * The same renderer, its work observed: an admission or a render lasts from the call, so what it waited in the queue counts.
 * Where the renderer has a `QueueProbe`, its queue is shown by gauges until it is closed.
 */
export function observeRenderer<R extends Renderer>(renderer: R, observer: Observer): R {
  const observedWork: Pick<Renderer, "admit" | "render"> = {
    admit: (source, type, options, work) =>
      observer.observe({ kind: "admit", type }, () => renderer.admit(source, type, options, work)),
    render: (source, type, spec, work) =>
      observer.observe({ kind: "render", type, format: spec.format }, () =>
        renderer.render(source, type, spec, work),
      ),
  };
  if (!hasQueueProbe(renderer)) return overlay(renderer, observedWork);
  const hideWaiting = observer.gauge("renders_waiting", () => renderer.queue().waiting);
  const hideRunning = observer.gauge("renders_running", () => renderer.queue().running);
  return overlay(renderer, {
    ...observedWork,
    close() {
      hideWaiting();
      hideRunning();
      return renderer.close();
    },
  });
}
