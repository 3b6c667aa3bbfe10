import type { Renderer } from "../contracts/renderer.ts";
import { isServiceError } from "../errors.ts";
import { overlay } from "./overlay.ts";

/**
 * Reports a renderer that does not work, once until it works again. Its calls reject with `overloaded`, which services do
 * not report otherwise, because a full queue is no failure.
 */
export function reportFailures(renderer: Renderer, onError: (error: unknown) => void): Renderer {
  let isReported = false;
  const watch = async <T>(work: Promise<T>): Promise<T> => {
    try {
      const result = await work;
      isReported = false;
      return result;
    } catch (error) {
      if (!isReported && isServiceError(error, "overloaded") && error.cause !== undefined) {
        isReported = true;
        onError(error);
      }
      throw error;
    }
  };
  const { start } = renderer;
  return overlay(renderer, {
    ...(start && { start: () => watch(start.call(renderer)) }),
    admit: (source, type, options, work) => watch(renderer.admit(source, type, options, work)),
    render: (source, type, spec, work) => watch(renderer.render(source, type, spec, work)),
  } satisfies Pick<Renderer, "start" | "admit" | "render">);
}
