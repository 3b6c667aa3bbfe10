import {
  type Attributes,
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { Observer, Operation } from "@outrigger/core";
import { checkOptions, rules } from "@outrigger/core/stores";
import { outcomeOfError } from "./outcome.ts";

const RULES = {
  /** Creates the spans. @default that of the SDK that the host registers; without one, nothing is recorded */
  tracer: rules.shape<Tracer>("a tracer of OpenTelemetry", "startSpan"),
};

export interface TracingOptions extends rules.Options<typeof RULES> {}

/**
 * Creates traces for OpenTelemetry: a span per request, with child spans per admission, render, store access or
 * sweep. A request span is a child of the host's active span, or continues the trace in the request's headers.
 * Attributes follow the semantic conventions of HTTP but contain no address, name or query: `url.path` is omitted
 * because it contains IDs.
 * @example
 * const images = createImages({ storage, renderer, observer: createTracing() });
 */
export function createTracing(options: TracingOptions = {}): Observer {
  const { tracer = trace.getTracer("@outrigger/telemetry") } = checkOptions("createTracing", options, RULES);

  /** @param startTime By `performance.now()`. Absent: now. */
  function start(operation: Operation, startTime?: number): { span: Span; parent: Context } {
    const active = context.active();
    const isEntry = operation.kind === "request" && trace.getSpan(active) === undefined;
    const parent = isEntry ? propagation.extract(active, operation.headers) : active;
    const { name, attributes } = describe(operation);
    const kind = isEntry ? SpanKind.SERVER : SpanKind.INTERNAL;
    const span = tracer.startSpan(name, { kind, attributes, ...(startTime && { startTime }) }, parent);
    return { span, parent };
  }

  return {
    observe(operation, work, outcomeOf) {
      const { span, parent } = start(operation);
      return inSpan(span, parent, async () => {
        try {
          const result = await work();
          tellOutcome(span, operation, outcomeOf?.(result) ?? "ok");
          return result;
        } catch (error) {
          tellFailure(span, outcomeOfError(error));
          throw error;
        } finally {
          span.end();
        }
      });
    },
    served(from) {
      trace.getActiveSpan()?.setAttribute("outrigger.served_from", from);
    },
    answered({ operation, status, from, startedAt }) {
      const { span } = start(operation, startedAt);
      if (from !== null) span.setAttribute("outrigger.served_from", from);
      tellOutcome(span, operation, status);
      span.end();
    },
    // Gauges do not belong to a trace.
    gauge: () => () => {},
  };
}

function inSpan<T>(span: Span, parent: Context, work: () => Promise<T>): Promise<T> {
  return context.with(trace.setSpan(parent, span), work);
}

function describe(operation: Operation): { name: string; attributes: Attributes } {
  switch (operation.kind) {
    case "request": {
      const { method, route } = operation;
      const isKnown = method !== "other";
      return {
        name: `${isKnown ? method : "HTTP"} ${route}`,
        attributes: { "http.request.method": isKnown ? method : "_OTHER", "http.route": route },
      };
    }
    case "admit":
      return { name: "admit", attributes: { "outrigger.type": operation.type } };
    case "render":
      return {
        name: `render ${operation.format}`,
        attributes: { "outrigger.type": operation.type, "outrigger.format": operation.format },
      };
    case "store":
      return { name: `${operation.role}.${operation.method}`, attributes: {} };
    case "wait":
      return { name: `wait for ${operation.for}`, attributes: {} };
    case "sweep":
      return { name: "sweep", attributes: {} };
  }
}

function tellOutcome(span: Span, { kind }: Operation, outcome: string): void {
  const status = kind === "request" ? Number(outcome) : Number.NaN;
  if (Number.isNaN(status)) {
    span.setAttribute("outrigger.outcome", outcome);
    return;
  }
  span.setAttribute("http.response.status_code", status);
  // 501 is a final answer, not a failure.
  if (status >= 500 && status !== 501) tellError(span, outcome);
}

/** Omits the messages of errors: they may contain keys. */
function tellFailure(span: Span, outcome: string): void {
  span.setAttribute("outrigger.outcome", outcome);
  if (outcome !== "aborted") tellError(span, outcome);
}

function tellError(span: Span, type: string): void {
  span.setAttribute("error.type", type);
  span.setStatus({ code: SpanStatusCode.ERROR, message: type });
}
