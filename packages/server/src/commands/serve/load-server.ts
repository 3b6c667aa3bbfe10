import type { Renderer } from "@outrigger/core/images";
import { ROLES } from "@outrigger/core/stores";
import { type Part, requireParts } from "../../cli/parts.ts";
import type { ServerSettings } from "../../config/settings.ts";
import type { ServerLog } from "./logger.ts";
import type { StartedServer, StartOptions } from "./start-server.ts";

/** A server whose modules are loaded. */
export interface LoadedServer {
  log: ServerLog;
  /** Composes, checks and starts the server. Call it once. @throws StartError; everything is released then. */
  start(options?: StartOptions): Promise<StartedServer>;
}

/** Loads what a server with these settings consists of. @throws StartError that names all missing packages. */
export async function loadServer(settings: ServerSettings): Promise<LoadedServer> {
  const renderer = await startRenderer(settings);
  try {
    await requireParts(partsOf(settings));
    const [{ createLog }, { startServer }] = await Promise.all([
      import("./logger.ts"),
      import("./start-server.ts"),
    ]);
    if (renderer === null) throw new Error("@outrigger/imaging was installed while this process started");
    const log = createLog(settings.log);
    return {
      log,
      start: (options) => startServer(settings, log.logger, renderer, options).catch(release),
    };
  } catch (error) {
    return release(error);
  }

  async function release(error: unknown): Promise<never> {
    await renderer?.close();
    throw error;
  }
}

/** Starts the first render process, which takes as long as loading the other modules. `null`: its package is missing. */
async function startRenderer(settings: ServerSettings): Promise<Renderer | null> {
  const imaging = await import("@outrigger/imaging").catch(() => null);
  const renderer = imaging?.createRenderer(settings.renderer) ?? null;
  // The check of the whole server reports a failure.
  renderer?.start?.().catch(() => undefined);
  return renderer;
}

/** The parts that a server with these settings loads. */
export function partsOf({ storage, lookup, metrics }: ServerSettings): Part[] {
  const kinds = ROLES.map((role) => storage[role].kind);
  const drivers = (["postgres", "redis", "s3"] as const).filter((kind) => kinds.includes(kind));
  return [
    "server",
    ...(metrics ? (["metrics"] as const) : []),
    ...(lookup === false ? [] : (["lookup", "verifier"] as const)),
    ...drivers,
  ];
}
