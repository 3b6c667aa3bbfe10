import { finished, Readable } from "node:stream";
import type { Call, ReadyReply, Reply, Service } from "../contracts/call.ts";
import type { Observer } from "../contracts/observer.ts";
import { isError, isServiceError, ServiceError, systemCode } from "../errors.ts";
import { preset, value } from "../option-rules.ts";
import { type CorsOptions, corsService } from "./cors.ts";
import type { FailureListener } from "./failure-listener.ts";

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
  /** See {@link Service.answerNow}. */
  answerNow?(call: Call, inFront: boolean): ReadyReply | undefined;
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
  /** Whether pages of all origins may send a request, without credentials. @default only those of `cors` */
  isForAllOrigins?(call: Call): boolean;
  observer: Observer | undefined;
}

export interface ServiceShell extends Service {
  /**
   * Runs the work of a library call; {@link drain} waits for it as for a request. Rejects as the work does,
   * and with `overloaded` after the service is closed.
   */
  run<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Rejects new requests from now on. Replies carry `Connection: close`. Resolves when none is in progress, or after
   * `timeoutMs`; uploads and other writes that are then in progress get 503.
   */
  drain(timeoutMs: number): Promise<void>;
}

/** Longest delay of a Node timer; `setTimeout` treats a longer one as 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The options of a service's `close()`. The time until a deadline need not be a whole number. */
export const CLOSE_RULES = {
  timeoutMs: preset(
    8000,
    value<number>(`a number of milliseconds from 0 to ${MAX_TIMER_MS}`, (given) => {
      return typeof given === "number" && given >= 0 && given <= MAX_TIMER_MS;
    }),
  ),
};

/** The requests and library calls of a service that are in progress. */
class InFlight {
  #count = 0;
  #onIdle: (() => void) | null = null;
  /** Whether new calls are rejected. */
  isClosing = false;

  /** Counts `work` until it settles. If its result has a stream as `body`, it counts until the stream has ended. */
  async track<T>(work: Promise<T>): Promise<T> {
    this.#count++;
    const end = () => {
      this.#count--;
      if (this.#count === 0) this.#onIdle?.();
    };
    let body: unknown;
    try {
      const result = await work;
      body = typeof result === "object" && result !== null && "body" in result ? result.body : undefined;
      return result;
    } finally {
      if (body instanceof Readable) finished(body, end);
      else end();
    }
  }

  /** Rejects new calls from now on; resolves when none is in progress, or after `timeoutMs`. */
  async drain(timeoutMs: number): Promise<void> {
    this.isClosing = true;
    if (this.#count === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      timer = setTimeout(resolve, timeoutMs);
    });
    clearTimeout(timer);
  }
}

/**
 * The part that all services share: observation, CORS, closing, disconnected clients, and failures as
 * replies.
 */
export function createServiceShell<M extends Matched, P>(options: ShellOptions<M, P>): ServiceShell {
  const { match, refuse, problems, cors, isForAllOrigins, observer } = options;
  const inFlight = new InFlight();

  /** Requests that change something. Their bodies may stall. */
  const writes = new Set<() => void>();

  async function reply(call: Call, matched: M, isCut = () => false): Promise<Reply | undefined> {
    let answered: Reply | undefined;
    try {
      answered = await options.answer(call, matched);
    } catch (error) {
      // Answered already; it fails because its connection was closed.
      if (isCut()) return undefined;
      answered = await refuse(call, matched, refusalOf(call, error));
    }
    if (!inFlight.isClosing || answered === undefined) return answered;
    // The last reply of its connection.
    return { ...answered, headers: { ...answered.headers, Connection: "close" } };
  }

  /** Answers 503 if the request is still in progress when `drain` ends, such as an upload that stalls. */
  function replyInTime(call: Call, matched: M): Promise<Reply | undefined> {
    return new Promise((resolve, reject) => {
      let isCut = false;
      const cut = () => {
        isCut = true;
        resolve(refuse(call, matched, problems.closing));
      };
      writes.add(cut);
      reply(call, matched, () => isCut)
        .then(resolve, reject)
        .finally(() => writes.delete(cut));
    });
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
      const isRead = call.method === "GET" || call.method === "HEAD";
      return inFlight.track(isRead ? reply(call, matched) : replyInTime(call, matched));
    },
    answerNow(call, inFront = false) {
      return inFlight.isClosing ? undefined : options.answerNow?.(call, inFront);
    },
  };
  const listed = cors === undefined ? bare : corsService(bare, cors);
  const open = isForAllOrigins === undefined ? listed : { ...listed, handle: handleOpen };
  const forAll = corsService(bare, { origins: "*" });
  function handleOpen(call: Call): Promise<Reply | undefined> {
    // The permission of a listed origin may include credentials.
    const isListed = cors?.origins.includes(call.headers.origin ?? "") === true;
    return (!isListed && isForAllOrigins?.(call) ? forAll : listed).handle(call);
  }
  const service =
    observer === undefined ? open : observeService(open, observer, (path) => match(path)?.route);
  return {
    ...service,
    async run(work) {
      if (inFlight.isClosing)
        throw new ServiceError("overloaded", "The service is closed", { retryAfterMs: 2_000 });
      return inFlight.track(work());
    },
    async drain(timeoutMs) {
      await inFlight.drain(timeoutMs);
      for (const cut of writes) cut();
    },
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

/** The methods that at least one route allows. */
const METHODS = new Set(["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"]);

/**
 * Wraps a service so that its requests are observed; requests outside its paths are not. A request that the
 * host answers after all, because a host page has a name in the form of an ID, ends as `next`. A request
 * lasts until its reply exists; a stream body is sent afterwards.
 * @param routeOf returns the route of a path with its variable parts as names; `undefined` outside the
 * service.
 */
export function observeService(
  service: Service,
  observer: Observer,
  routeOf: (path: string) => string | undefined,
): Service {
  return {
    handle(call) {
      const route = routeOf(call.path);
      if (route === undefined) return service.handle(call);
      const method = METHODS.has(call.method) ? call.method : "other";
      return observer.observe(
        { kind: "request", method, route, headers: call.headers },
        () => service.handle(call),
        (reply) => (reply === undefined ? "next" : String(reply.status)),
      );
    },
    answerNow(call, inFront) {
      if (observer.answered === undefined) return undefined;
      const startedAt = performance.now();
      const reply = service.answerNow?.(call, inFront);
      const route = reply && routeOf(call.path);
      if (reply === undefined || route === undefined) return reply;
      const { method, headers } = call;
      observer.answered({
        operation: { kind: "request", method, route, headers },
        status: String(reply.status),
        // A reply at hand has its bytes in memory.
        from: reply.status === 200 ? "memory" : null,
        startedAt,
      });
      return reply;
    },
  };
}
