import { setTimeout as delay } from "node:timers/promises";
import type { Service } from "@outrigger/core";
import { chooseLeases, IMAGES_RULES, inspectStores, type Renderer, rolesApart } from "@outrigger/core/images";
import { express as mount } from "@outrigger/express";
import { hasLatinFont } from "@outrigger/imaging";
import type { Metrics } from "@outrigger/telemetry";
import expressApp from "express";
import type { Logger } from "pino";
import { ENOUGH_OPEN_FILES, openFilesLimit, RAISE_OPEN_FILES } from "../../cli/open-files.ts";
import { forgedHostRisk, type ServerSettings } from "../../config/settings.ts";
import { describeDatabase } from "../../config/targets/database-target.ts";
import { describeTargets } from "../../config/targets/describe-storage.ts";
import { createListener } from "./app.ts";
import { type Listener, type ListenSettings, listen } from "./listen.ts";
import { openParts } from "./open-parts.ts";
import { createReadiness } from "./readiness.ts";
import { methodRefusal, problemReply, reply } from "./replies.ts";
import { uploadCommand } from "./terminal-guide.ts";

export interface StartedServer {
  url: string;
  /** Address of the metrics; `null` if they are off. */
  metricsUrl: string | null;
  /** The key to the lookup's samples; `null` without samples. */
  sampleKey: string | null;
  /** Drains and releases everything, within `shutdownMs`. Calling it twice is allowed. */
  close(): Promise<void>;
}

export interface StartOptions {
  /** Adds samples to a new database of the lookup. @default false */
  withSamples?: boolean;
}

/**
 * Composes, checks and starts the server. @throws StartError if the server cannot start; everything but the renderer is
 * released then.
 */
export async function startServer(
  settings: ServerSettings,
  logger: Logger,
  renderer: Renderer,
  { withSamples = false }: StartOptions = {},
): Promise<StartedServer> {
  const parts = await openParts(settings, logger, renderer, withSamples);
  const { storage, pages, metrics, images, lookup } = parts;
  const readiness = createReadiness({
    storage: storage.targets,
    renderer,
    async checkStores() {
      await images.ready();
      // Names renditions of another storage, too. The images are ready without them.
      const apart = rolesApart(storage.stores);
      if (apart.length > 0) await inspectStores(storage.stores, { apart });
    },
    checkLookup: lookup?.check ?? null,
  });
  let isDraining = false;
  let metricsListener: Listener | null = null;
  let listener: Listener;
  try {
    if (metrics !== null && settings.metrics) {
      const { http } = settings;
      metricsListener = await listenForMetrics(metrics, { ...settings.metrics, http }, logger);
    }
    const handler = createListener(settings, {
      images,
      lookup: lookup?.lookup ?? null,
      pages,
      readiness,
      leases: () => chooseLeases(storage.stores),
      logger,
      isDraining: () => isDraining,
    });
    listener = await listen(handler, settings, (err) => logger.error({ err }, "cannot accept a connection"));
  } catch (error) {
    await metricsListener?.drain(0);
    await parts.close();
    throw error;
  }
  announce(settings, listener.url, logger);
  void warnWithoutFonts(renderer, logger);

  async function close(): Promise<void> {
    const endsAt = performance.now() + settings.shutdownMs;
    isDraining = true;
    logger.info("draining");
    if (settings.drainDelayMs > 0) await delay(settings.drainDelayMs);
    // The remaining fifth of the time is for renderer and stores.
    const timeoutMs = Math.max(0, (endsAt - performance.now()) * 0.8);
    const [cut] = await Promise.all([listener.drain(timeoutMs), metricsListener?.drain(timeoutMs)]);
    if (cut > 0) logger.warn({ connections: cut }, "cut connections that had not ended in time");
    await parts.close({ timeoutMs: Math.max(0, (endsAt - performance.now()) / 2) });
    logger.info("closed");
  }

  let closing: Promise<void> | null = null;
  return {
    url: listener.url,
    metricsUrl: metricsListener && `${metricsListener.url}${METRICS_PATH}`,
    sampleKey: lookup?.sampleKey ?? null,
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function announce(settings: ServerSettings, url: string, logger: Logger): void {
  const { publicUrl, tls, trustProxy, host } = settings;
  const storage = describeTargets(settings.storage);
  logger.info({ url, storage, publicUrl, tls: tls ?? IMAGES_RULES.tls.preset, trustProxy }, "listening");
  if (settings.lookup !== false) {
    logger.info({ database: describeDatabase(settings.lookup.database) }, "serving the lookup");
  }
  logger.info(`Upload pictures at ${publicUrl ?? url} in a browser, or: ${uploadCommand(publicUrl ?? url)}`);
  const openFiles = openFilesLimit();
  if (openFiles !== null && openFiles < ENOUGH_OPEN_FILES) {
    logger.warn(
      { openFiles },
      `The limit of open files is low: requests will fail under load. ${RAISE_OPEN_FILES}.`,
    );
  }
  if (tls !== "off" && trustProxy === false && !/^(?:localhost|127\.|::1$)/.test(host)) {
    logger.warn(
      "Requests from other machines need a proxy that terminates TLS: set trustProxy to trust it, or set tls to off.",
    );
  }
  if (trustProxy === true) {
    logger.warn(
      "trustProxy is true: every client can claim any address and protocol. Name the proxies instead.",
    );
  }
  const forgery = forgedHostRisk(settings);
  if (forgery !== null) logger.warn(`${forgery.risk}. ${forgery.remedy}.`);
}

/** Warns once if text in SVG pictures cannot be rendered. Never rejects. */
export async function warnWithoutFonts(renderer: Renderer, logger: Logger): Promise<void> {
  try {
    if (await hasLatinFont(renderer)) return;
    logger.warn(
      "No fonts are installed: text in SVG pictures becomes boxes or disappears. See outrigger serve --check.",
    );
  } catch (err) {
    // The renderer was closed or is overloaded.
    logger.debug({ err }, "fonts not checked");
  }
}

export const METRICS_PATH = "/metrics";

/** Serves the metrics on a separate address. @throws StartError */
export async function listenForMetrics(
  metrics: Metrics,
  settings: ListenSettings,
  logger: Logger,
): Promise<Listener> {
  const app = expressApp();
  app.disable("x-powered-by");
  app.disable("etag");
  app.use(mount(createMetricsPage(metrics)));
  const listener = await listen(app, settings, (err) =>
    logger.error({ err }, "cannot accept a connection for metrics"),
  );
  logger.info({ url: listener.url + METRICS_PATH }, "metrics");
  return listener;
}

function createMetricsPage(metrics: Metrics): Service {
  return {
    async handle(call) {
      if (call.path !== METRICS_PATH) {
        return problemReply(call, 404, `There is nothing at this address; metrics are at ${METRICS_PATH}.`);
      }
      return methodRefusal(call) ?? reply(call, 200, metrics.contentType, await metrics.text());
    },
  };
}
