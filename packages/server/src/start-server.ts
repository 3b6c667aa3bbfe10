import { setTimeout as delay } from "node:timers/promises";
import { type BlobStore, createFsBlobStore, createImages, type ImagesOptions } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import { createPages } from "@outrigger/web";
import type { Logger } from "pino";
import { createApp } from "./app.ts";
import { StartError } from "./config-error.ts";
import { reasonOf, whyUnusable } from "./error-reason.ts";
import { warnWithoutFonts } from "./font-warning.ts";
import { uploadCommand } from "./front-page.ts";
import { type Listener, listen } from "./listen.ts";
import { listenForMetrics, METRICS_PATH } from "./metrics-listener.ts";
import { createObservers } from "./observers.ts";
import { createReadiness } from "./readiness.ts";
import { safeTarget } from "./redact.ts";
import { requestIdOf } from "./request-log.ts";
import type { ServerSettings } from "./settings.ts";

/** The renderer has processes to start, maybe on a machine that is busy starting other things. */
const START_TIMEOUT_MS = 30_000;

export interface StartedServer {
  url: string;
  /** Where metrics are, `null` where they are off. */
  metricsUrl: string | null;
  /** Drains and releases everything, within `shutdownMs`. Calling it twice is allowed. */
  close(): Promise<void>;
}

/** Composes, checks and starts the server. @throws StartError when something is in the way; nothing is left behind then. */
export async function startServer(settings: ServerSettings, logger: Logger): Promise<StartedServer> {
  const storage = openStorage(settings.data);
  const renderer = createRenderer(settings.renderer);
  const pages = createPages();
  const { metrics, observer } = createObservers(settings);
  const images = createImages({
    ...imagesOptionsOf(settings, logger),
    ...(observer === null ? {} : { observer }),
    storage,
    renderer,
    pages,
  });
  const readiness = createReadiness({ storage, renderer });
  let isDraining = false;
  let metricsListener: Listener | null = null;
  let listener: Listener;
  try {
    await images.ready().catch((cause) => Promise.reject(dataError(settings.data, cause)));
    const atStart = createReadiness({ storage, renderer, timeoutMs: START_TIMEOUT_MS });
    requireReady(await atStart.troubles(), settings);
    if (metrics !== null && settings.metrics) {
      const { http } = settings;
      metricsListener = await listenForMetrics(metrics, { ...settings.metrics, http }, logger);
    }
    const app = createApp(settings, { images, pages, readiness, logger, isDraining: () => isDraining });
    listener = await listen(app, settings, (err) => logger.error({ err }, "cannot accept a connection"));
  } catch (error) {
    await metricsListener?.drain(0);
    await images.close();
    throw error;
  }
  announce(settings, listener.url, logger);
  void warnWithoutFonts(renderer, logger);

  async function close(): Promise<void> {
    const endsAt = performance.now() + settings.shutdownMs;
    isDraining = true;
    logger.info("draining");
    if (settings.drainDelayMs > 0) await delay(settings.drainDelayMs);
    // The last part of the time is for renderer and stores.
    const timeoutMs = Math.max(0, (endsAt - performance.now()) * 0.8);
    const [cut] = await Promise.all([listener.drain(timeoutMs), metricsListener?.drain(timeoutMs)]);
    if (cut > 0) logger.warn({ connections: cut }, "cut what had not ended in time");
    await images.close({ timeoutMs: Math.max(0, (endsAt - performance.now()) / 2) });
    logger.info("closed");
  }

  let closing: Promise<void> | null = null;
  return {
    url: listener.url,
    metricsUrl: metricsListener && `${metricsListener.url}${METRICS_PATH}`,
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function imagesOptionsOf(
  { publicUrl, tls, secret, images }: ServerSettings,
  logger: Logger,
): Omit<ImagesOptions, "storage" | "renderer"> {
  return {
    ...images,
    logger,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(tls === undefined ? {} : { tls }),
    ...(secret === undefined ? {} : { secret }),
    onError(err, call) {
      const request =
        call === undefined
          ? {}
          : { id: requestIdOf(call.context), method: call.method, path: safeTarget(call.path) };
      logger.error({ ...request, err }, "failed");
    },
  };
}

function openStorage(directory: string): BlobStore {
  try {
    return createFsBlobStore({ directory });
  } catch (cause) {
    throw dataError(directory, cause);
  }
}

function requireReady(troubles: Record<string, unknown>, { data }: ServerSettings): void {
  if ("storage" in troubles) throw dataError(data, troubles.storage);
  if ("renderer" in troubles) {
    const cause = troubles.renderer;
    throw new StartError(`The renderer does not work: ${reasonOf(cause)}`, { cause });
  }
}

function dataError(directory: string, cause: unknown): StartError {
  return new StartError(`The data directory ${directory} cannot be used: ${whyUnusable(cause)}`, { cause });
}

function announce(settings: ServerSettings, url: string, logger: Logger): void {
  const { data, publicUrl, tls, trustProxy, host } = settings;
  logger.info({ url, data, publicUrl, tls: tls ?? "required", trustProxy }, "listening");
  logger.info(`Upload a picture: ${uploadCommand(publicUrl ?? url)}`);
  if (tls !== "off" && trustProxy === false && !/^(?:localhost|127\.|::1$)/.test(host)) {
    logger.warn(
      "Other machines must come through a proxy that ends TLS: set trustProxy so that it is believed, or tls to off.",
    );
  }
  if (trustProxy === true) {
    logger.warn(
      "trustProxy is true: every client can claim any address and protocol. Name the proxies instead.",
    );
  }
}
