export { combineObservers } from "./combine-observers.ts";
export type { Metrics, MetricsOptions } from "./metrics.ts";
export { createMetrics } from "./metrics.ts";
export type { PrometheusClient, PrometheusRegistry } from "./prometheus-client.ts";
export type { TracingOptions } from "./tracing.ts";
export { createTracing } from "./tracing.ts";
