import type { Operation } from "@outrigger/core";
import { Counter, Histogram, type Registry } from "prom-client";

/** Counts and times an operation that has ended. */
export type Meter = (operation: Operation, outcome: string, seconds: number) => void;

interface MeterNames {
  counter: string;
  counts: string;
  histogram: string;
  times: string;
  labels: readonly string[];
  /** What the counter's label for the outcome is called. */
  outcome: string;
}

/** Seconds. A picture from memory takes less than the first; one that is rendered behind others may take the last. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const NAMES: Readonly<Record<Operation["kind"], MeterNames>> = {
  request: {
    counter: "requests_total",
    counts: "Requests by status; next: the host's after all; error: left to the host's error handling.",
    histogram: "request_duration_seconds",
    times: "Time until there was a reply, whose body is sent afterwards.",
    labels: ["method", "route"],
    outcome: "status",
  },
  admit: {
    counter: "admissions_total",
    counts: "Uploaded files that were checked and cleaned.",
    histogram: "admission_duration_seconds",
    times: "Time to check and clean an uploaded file, without its time in line.",
    labels: ["type"],
    outcome: "outcome",
  },
  render: {
    counter: "renders_total",
    counts: "Pictures that were made for readers.",
    histogram: "render_duration_seconds",
    times: "Time to make a picture, without its time in line.",
    labels: ["type", "format"],
    outcome: "outcome",
  },
  store: {
    counter: "store_operations_total",
    counts: "Reads and writes of the stores.",
    histogram: "store_duration_seconds",
    times: "Time of a read or write of a store; a body that is a stream is read afterwards.",
    labels: ["role", "method"],
    outcome: "outcome",
  },
  sweep: {
    counter: "sweeps_total",
    counts: "Looks for images whose time is over.",
    histogram: "sweep_duration_seconds",
    times: "Time of a look, the removal of what was due included.",
    labels: [],
    outcome: "outcome",
  },
};

export function createMeters(registry: Registry, prefix: string): Record<Operation["kind"], Meter> {
  const meter = (kind: Operation["kind"]): Meter => {
    const { counter, counts, histogram, times, labels, outcome: outcomeLabel } = NAMES[kind];
    const registers = [registry];
    const total = new Counter({
      name: prefix + counter,
      help: counts,
      labelNames: [...labels, outcomeLabel],
      registers,
    });
    const duration = new Histogram({
      name: prefix + histogram,
      help: times,
      labelNames: [...labels],
      buckets: BUCKETS,
      registers,
    });
    return (operation, outcome, seconds) => {
      // Not by spreading, which alone takes longer than all else here: this happens with every read.
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
    case "sweep":
      return {};
  }
}
