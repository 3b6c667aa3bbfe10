import type { Logger } from "../contracts/logger.ts";
import type { Observer } from "../contracts/observer.ts";
import type { Renderer, Sandbox, SandboxLevel } from "../contracts/renderer.ts";
import { isServiceError } from "../errors.ts";
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

const CONFINED_BY: Readonly<Record<SandboxLevel, string>> = {
  bubblewrap: "Render processes are confined by bubblewrap.",
  namespaces: "Render processes are confined by namespaces.",
  permissions: "Render processes are confined by Node's permission model only, which does not bind decoders.",
  none: "Render processes are not confined.",
};
const LEVELS: readonly SandboxLevel[] = ["bubblewrap", "namespaces", "permissions", "none"];

/** A renderer whose sandbox is reported. */
export interface Reported {
  renderer: Renderer;
  /** Removes the gauges. */
  hide(): void;
}

/**
 * Logs the level of a renderer's sandbox once it is known, which is after its start or the first picture, and registers a gauge for
 * each level. A renderer that does not report a level is returned as it is.
 */
export function reportSandbox(renderer: Renderer, log: Logger, observer: Observer | undefined): Reported {
  if (renderer.sandbox === undefined) return { renderer, hide: () => undefined };
  let isLogged = false;
  const logOnce = (): void => {
    if (isLogged || !renderer.sandbox) return;
    isLogged = true;
    logSandbox(renderer.sandbox, log);
  };
  logOnce();
  const gauges = LEVELS.map((level) =>
    observer?.gauge(`sandbox_${level}`, () => (renderer.sandbox?.level === level ? 1 : 0)),
  );
  const { start } = renderer;
  return {
    renderer: overlay(renderer, {
      ...(start && { start: () => start.call(renderer).finally(logOnce) }),
      admit: (source, type, options, work) => renderer.admit(source, type, options, work).finally(logOnce),
      render: (source, type, spec, work) => renderer.render(source, type, spec, work).finally(logOnce),
    } satisfies Pick<Renderer, "start" | "admit" | "render">),
    hide() {
      for (const hide of gauges) hide?.();
    },
  };
}

function logSandbox({ level, failures }: Sandbox, log: Logger): void {
  const fields = { sandbox: level, ...(failures.length === 0 ? {} : { failures }) };
  const binds = level === "bubblewrap" || level === "namespaces";
  // With none tried, the host chose this level.
  log[binds || failures.length === 0 ? "info" : "warn"](fields, CONFINED_BY[level]);
  if (process.getuid?.() === 0) {
    log.warn(
      { sandbox: level },
      "This process runs as root, and so do its render processes. Use another user.",
    );
  }
}

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
