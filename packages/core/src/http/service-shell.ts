import type { Call, Reply, Service } from "../contracts/call.ts";
import type { Observer } from "../contracts/observer.ts";
import { isError, isServiceError, ServiceError, systemCode } from "../errors.ts";
import { type CorsOptions, corsService } from "./cors.ts";
import type { FailureListener } from "./failure-listener.ts";
import { createInFlight } from "./in-flight.ts";
import { observeService } from "./observe-service.ts";

/** A request's path, matched against a service's table of routes. */
export interface Matched {
  /** The path with its variable parts named, e.g. `/api/images/{id}.png`: the name of the route for observers. */
  readonly route: string;
}

/**
 * What a service adds to the shell.
 * @typeParam M a matched path.
 * @typeParam P a refusal in the service's own form.
 */
export interface ShellOptions<M extends Matched, P> {
  /** `undefined`: the path is the host's. */
  match(path: string): M | undefined;
  /** Answers a request; `undefined` leaves it to the host after all. Rejects with what {@link problemOf} and the shell turn into replies. */
  answer(call: Call, matched: M): Promise<Reply | undefined>;
  /** The refusal that an expected failure is; `null` for a failure that is not expected. */
  problemOf(error: unknown): P | null;
  /** Refusals that do not come from the service's own work. */
  problems: {
    /** 503: the service is shutting down. */
    closing: P;
    /** The client left. The status only shows in metrics. */
    departed: P;
    /** 500. */
    unexpected: P;
  };
  /** Whether the operator must know of an expected failure. */
  isReported(error: ServiceError): boolean;
  /** The reply that a refusal becomes. */
  refuse(call: Call, matched: M, problem: P): Reply | Promise<Reply>;
  /** `host`: unexpected failures reject, so that the host's error handling gets them. */
  errors: "reply" | "host";
  onError: FailureListener;
  cors: CorsOptions | undefined;
  observer: Observer | undefined;
}

export interface ServiceShell extends Service {
  /**
   * Does work of a call in code, which {@link drain} waits for as for a request. Rejects as the work does, and with
   * `overloaded` when the service is closed.
   */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Refuses new requests from now on; resolves when none is under way, at the latest after `timeoutMs`. */
  drain(timeoutMs: number): Promise<void>;
}

/** The part of a service that is the same for all: observation, CORS, closing, client departures, and failures as replies. */
export function createServiceShell<M extends Matched, P>(options: ShellOptions<M, P>): ServiceShell {
  const { match, refuse, problems, cors, observer } = options;
  const inFlight = createInFlight();

  async function reply(call: Call, matched: M): Promise<Reply | undefined> {
    try {
      return await options.answer(call, matched);
    } catch (error) {
      return refuse(call, matched, refusalOf(call, error));
    }
  }

  function refusalOf(call: Call, error: unknown): P {
    const expected = options.problemOf(error);
    if (expected !== null) {
      if (isServiceError(error) && options.isReported(error)) options.onError(error, call);
      return expected;
    }
    // The reply will not be read, and the service did not fail.
    if (isDeparture(call, error)) return problems.departed;
    if (options.errors === "host") throw error;
    options.onError(error, call);
    return problems.unexpected;
  }

  const bare: Service = {
    async handle(call) {
      const matched = match(call.path);
      if (matched === undefined) return undefined;
      if (inFlight.isClosing) return refuse(call, matched, problems.closing);
      return inFlight.track(reply(call, matched));
    },
  };
  const open = cors === undefined ? bare : corsService(bare, cors);
  const service =
    observer === undefined ? open : observeService(open, observer, (path) => match(path)?.route);
  return {
    handle: (call) => service.handle(call),
    async run(work) {
      if (inFlight.isClosing)
        throw new ServiceError("overloaded", "The service is closed.", { retryAfterMs: 2_000 });
      return inFlight.track(work());
    },
    drain: (timeoutMs) => inFlight.drain(timeoutMs),
  };
}

/** Whether work failed because its client left: with the signal's own reason, or as streams and drivers say it. */
function isDeparture({ signal }: Call, error: unknown): boolean {
  if (!signal.aborted) return false;
  if (error === signal.reason) return true;
  return (
    isError(error) && (error.name === "AbortError" || systemCode(error) === "ERR_STREAM_PREMATURE_CLOSE")
  );
}
