import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  type ContextManager,
  context,
  propagation,
  ROOT_CONTEXT,
  trace,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

/** An OpenTelemetry SDK that is registered for the whole process and keeps spans in memory. */
export interface SpanRecorder {
  provider: BasicTracerProvider;
  /** The ended spans. */
  spans(): ReadableSpan[];
  /** The span with this name. @throws if there is not exactly one. */
  span(name: string): ReadableSpan;
  reset(): void;
  close(): Promise<void>;
}

export function recordSpans(): SpanRecorder {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  context.setGlobalContextManager(createContextManager());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  return {
    provider,
    spans: () => exporter.getFinishedSpans(),
    span(name) {
      const found = exporter.getFinishedSpans().filter((span) => span.name === name);
      const [span] = found;
      if (span === undefined || found.length > 1)
        throw new Error(`Expected one span named ${name}, found ${found.length}`);
      return span;
    },
    reset: () => exporter.reset(),
    async close() {
      await provider.shutdown();
      context.disable();
      propagation.disable();
      trace.disable();
    },
  };
}

/** Like the context manager of the SDK for Node. */
function createContextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    // As `never`: the caller determines the type of `this`.
    with: (active, work, thisArg, ...args) => storage.run(active, () => work.call(thisArg as never, ...args)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}
