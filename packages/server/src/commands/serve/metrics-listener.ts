import type { Service } from "@outrigger/core";
import { express as mount } from "@outrigger/express";
import type { Metrics } from "@outrigger/telemetry";
import expressApp from "express";
import type { Logger } from "pino";
import { type Listener, type ListenSettings, listen } from "./listen.ts";
import { methodRefusal, problemReply, reply } from "./replies.ts";

export const METRICS_PATH = "/metrics";

/** Serves the metrics on an address of their own. @throws StartError */
export async function listenForMetrics(
  metrics: Metrics,
  settings: ListenSettings,
  logger: Logger,
): Promise<Listener> {
  const app = expressApp();
  app.disable("x-powered-by");
  app.disable("etag");
  app.use(mount(createMetricsPage(metrics)));
  const listener = await listen(
    app,
    settings,
    (err) => logger.error({ err }, "cannot accept a connection for metrics"),
    { port: "metrics.port", host: "metrics.host" },
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
