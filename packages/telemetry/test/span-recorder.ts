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

/** An OpenTelemetry SDK, registered for the whole process, that keeps spans in memory. */
export interface SpanRecorder {
  provider: BasicTracerProvider;
  /** Those that have ended. */
  spans(): ReadableSpan[];
  /** The one of this name. @throws where there is none, or another. */
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
      if (span === undefined || found.length > 1) throw new Error(`${found.length} spans are named ${name}`);
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

/** As the SDK for Node brings one along. */
function createContextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    // As `never`: the type of `this` is the caller's affair.
    with: (active, work, thisArg, ...args) => storage.run(active, () => work.call(thisArg as never, ...args)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}
