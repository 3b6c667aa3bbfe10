import type { Call, ReadyReply, Reply, Service } from "../contracts/call.ts";
import type { Observer } from "../contracts/observer.ts";
import { isError, isServiceError, ServiceError, systemCode } from "../errors.ts";
import { type CorsOptions, corsService } from "./cors.ts";
import type { FailureListener } from "./failure-listener.ts";
import { createInFlight } from "./in-flight.ts";
import { observeService } from "./observe-service.ts";

/** A request's path, matched against a service's table of routes. */
export interface Matched {
  /** The path with its variable parts as names, e.g. `/api/images/{id}.png`: the route name for observers. */
  readonly route: string;
}

/**
 * The parts that a service adds to the shell.
 * @typeParam M a matched path.
 * @typeParam P a refusal in the service's own form.
 */
export interface ShellOptions<M extends Matched, P> {
  /** `undefined`: the path belongs to the host. */
  match(path: string): M | undefined;
  /** See {@link Service.answerNow}. Not asked where an observer or CORS sees each reply. */
  answerNow?(call: Call): ReadyReply | undefined;
  /**
   * Answers a request; `undefined` leaves it to the host. Rejects with errors that {@link problemOf} and the
   * shell turn into replies.
   */
  answer(call: Call, matched: M): Promise<Reply | undefined>;
  /** The refusal for an expected failure; `null` for an unexpected failure. */
  problemOf(error: unknown): P | null;
  /** Refusals that the shell itself sends. */
  problems: {
    /** 503: the service is shutting down. */
    closing: P;
    /** The client disconnected. The status appears only in metrics. */
    departed: P;
    /** 500. */
    unexpected: P;
  };
  /** Whether an expected failure is reported to the operator. */
  isReported(error: ServiceError): boolean;
  /** The reply for a refusal. */
  refuse(call: Call, matched: M, problem: P): Reply | Promise<Reply>;
  /** `host`: unexpected failures reject, so that the host's error handling receives them. */
  errors: "reply" | "host";
  onError: FailureListener;
  cors: CorsOptions | undefined;
  observer: Observer | undefined;
}

export interface ServiceShell extends Service {
  /**
   * Runs the work of a library call; {@link drain} waits for it as for a request. Rejects as the work does,
   * and with `overloaded` after the service is closed.
   */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Rejects new requests from now on; resolves when none is in progress, or after `timeoutMs`. */
  drain(timeoutMs: number): Promise<void>;
}

/**
 * The part that all services share: observation, CORS, closing, disconnected clients, and failures as
 * replies.
 */
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
    // No client reads the reply, and the service did not fail.
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
    answerNow(call) {
      return service === bare && !inFlight.isClosing ? options.answerNow?.(call) : undefined;
    },
    async run(work) {
      if (inFlight.isClosing)
        throw new ServiceError("overloaded", "The service is closed", { retryAfterMs: 2_000 });
      return inFlight.track(work());
    },
    drain: (timeoutMs) => inFlight.drain(timeoutMs),
  };
}

/**
 * Whether work failed because its client disconnected: with the signal's reason, or with an error of a stream
 * or driver.
 */
function isDeparture({ signal }: Call, error: unknown): boolean {
  if (!signal.aborted) return false;
  if (error === signal.reason) return true;
  return (
    isError(error) && (error.name === "AbortError" || systemCode(error) === "ERR_STREAM_PREMATURE_CLOSE")
  );
}
