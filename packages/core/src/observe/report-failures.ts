import type { Renderer } from "../contracts/renderer.ts";
import { isServiceError } from "../errors.ts";
import { overlay } from "./overlay.ts";

/**
 * Whether a renderer does not work here, as opposed to being busy (`overloaded`) or refusing a conversion
 * (`not_implemented`).
 */
export function saysNotWorking(error: unknown): boolean {
  if (!isServiceError(error) || error.cause === undefined) return false;
  return error.code === "overloaded" || error.code === "not_implemented";
}

/** Reports a renderer that does not work, once until it works again. Services do not report its errors otherwise. */
export function reportFailures(renderer: Renderer, onError: (error: unknown) => void): Renderer {
  let isReported = false;
  const watch = async <T>(work: Promise<T>): Promise<T> => {
    try {
      const result = await work;
      isReported = false;
      return result;
    } catch (error) {
      if (!isReported && saysNotWorking(error)) {
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
