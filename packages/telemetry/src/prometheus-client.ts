/** What is used of a `Registry`. */
export interface PrometheusRegistry {
  readonly contentType: string;
  registerMetric(metric: never): void;
  metrics(): Promise<string>;
}

type Make<T, More = unknown> = new (
  configuration: { name: string; help: string; labelNames?: string[]; registers: Registries } & More,
) => T;
type Labels = Record<string, string>;

/** Registries of the client, whose type it alone knows. */
export type Registries = never[];

/** What is used of `prom-client` or `@prometheus-io/client`. */
export type PrometheusClient = {
  Counter: Make<{ inc(labels: Labels): void }>;
  Histogram: Make<{ observe(labels: Labels, value: number): void }, { buckets: number[] }>;
  Gauge: Make<
    { inc(labels: Labels): void; dec(labels: Labels): void },
    { collect?(this: { set(value: number): void }): void }
  >;
  Registry: new () => PrometheusRegistry;
};
