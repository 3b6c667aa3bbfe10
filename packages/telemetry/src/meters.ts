import type { Operation } from "@outrigger/core";
import type { PrometheusClient, Registries } from "./prometheus-client.ts";

/** Counts an operation that has ended and records its duration. */
export type Meter = (operation: Operation, outcome: string, seconds: number) => void;

interface MeterNames {
  counter: string;
  counts: string;
  histogram: string;
  times: string;
  labels: readonly string[];
  /** Name of the counter's label for the outcome. */
  outcome: string;
}

/**
 * Bounds in seconds. A picture from memory takes less than the first; one rendered after a queue may take the
 * last.
 */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const NAMES: Readonly<Record<Operation["kind"], MeterNames>> = {
  request: {
    counter: "requests_total",
    counts: "Requests by status; next: passed on to the host app; error: left to the host's error handling.",
    histogram: "request_duration_seconds",
    times: "Time until the reply was ready, without sending its body.",
    labels: ["method", "route"],
    outcome: "status",
  },
  admit: {
    counter: "admissions_total",
    counts: "Uploaded files that were checked and cleaned.",
    histogram: "admission_duration_seconds",
    times: "Time to check and clean an uploaded file, without its time in the queue.",
    labels: ["type"],
    outcome: "outcome",
  },
  render: {
    counter: "renders_total",
    counts: "Pictures that were rendered for readers.",
    histogram: "render_duration_seconds",
    times: "Time to render a picture, without its time in the queue.",
    labels: ["type", "format"],
    outcome: "outcome",
  },
  store: {
    counter: "store_operations_total",
    counts: "Reads and writes of the stores.",
    histogram: "store_duration_seconds",
    times: "Time of a read or write of a store, without reading a streamed body.",
    labels: ["role", "method"],
    outcome: "outcome",
  },
  wait: {
    counter: "waits_total",
    counts: "Waits for a connection of a pool, or for a rendition of another process.",
    histogram: "wait_duration_seconds",
    times: "Time of such a wait.",
    labels: ["for"],
    outcome: "outcome",
  },
  sweep: {
    counter: "sweeps_total",
    counts: "Sweeps for images that are due for deletion.",
    histogram: "sweep_duration_seconds",
    times: "Time of a sweep, including the deletion of due images.",
    labels: [],
    outcome: "outcome",
  },
};

export function createMeters(
  { Counter, Histogram }: PrometheusClient,
  registers: Registries,
): Record<Operation["kind"], Meter> {
  const meter = (kind: Operation["kind"]): Meter => {
    const { counter, counts, histogram, times, labels, outcome: outcomeLabel } = NAMES[kind];
    const total = new Counter({
      name: `outrigger_${counter}`,
      help: counts,
      labelNames: [...labels, outcomeLabel],
      registers,
    });
    const duration = new Histogram({
      name: `outrigger_${histogram}`,
      help: times,
      labelNames: [...labels],
      buckets: BUCKETS,
      registers,
    });
    return (operation, outcome, seconds) => {
      // Without object spread, which would take longer than the rest of this function: it runs for every read.
      const counted = labelsOf(operation);
      counted[outcomeLabel] = outcome;
      total.inc(counted);
      duration.observe(labelsOf(operation), seconds);
    };
  };
  return {
    request: meter("request"),
    admit: meter("admit"),
    render: meter("render"),
    store: meter("store"),
    wait: meter("wait"),
    sweep: meter("sweep"),
  };
}

function labelsOf(operation: Operation): Record<string, string> {
  switch (operation.kind) {
    case "request":
      return { method: operation.method, route: operation.route };
    case "admit":
      return { type: operation.type };
    case "render":
      return { type: operation.type, format: operation.format };
    case "store":
      return { role: operation.role, method: operation.method };
    case "wait":
      return { for: operation.for };
    case "sweep":
      return {};
  }
}
