import type { IncomingHttpHeaders } from "node:http";
import type { ConvertibleType, ImageFormat, OriginalType, SandboxLevel } from "./renderer.ts";

/** The role of a store in a service. */
export type StoreRole = "records" | "originals" | "renditions";

/**
 * The observed methods of a store: those of `BlobStore`, and those of its optional abilities that read or
 * write.
 */
export type StoreMethod =
  | "put"
  | "adopt"
  | "get"
  | "stat"
  | "delete"
  | "list"
  | "addDue"
  | "removeDue"
  | "listDue"
  | "acquireLease"
  | "renewLease"
  | "releaseLease";

/** What a caller waits for: a connection of a pool, or a rendition that another process makes. */
export type WaitedFor = "connection" | "rendition_lease";

/**
 * An operation, as reported to an observer before it begins. Names and types only: no address, no ID, no
 * secret.
 */
export type Operation =
  | {
      kind: "request";
      /** `GET`, `HEAD`, `POST`, `PATCH`, `DELETE`, `OPTIONS`, or `other`. */
      method: string;
      /**
       * The path below the mount point with its variable parts as names, e.g. `/api/images/{id}.png`. One of
       * about twenty.
       */
      route: string;
      /** The request's headers; `traceparent` names the trace to continue. */
      headers: IncomingHttpHeaders;
    }
  | { kind: "admit"; type: OriginalType | ConvertibleType }
  | { kind: "render"; type: OriginalType; format: ImageFormat }
  | { kind: "store"; role: StoreRole; method: StoreMethod }
  | { kind: "wait"; for: WaitedFor }
  | { kind: "sweep" };

/** Where a rendition's bytes came from; `missing`: nowhere, because the original of a living image is missing. */
export type ServedFrom = "memory" | "store" | "render" | "missing";

/** A request that was answered within one synchronous call. */
export interface AnsweredRequest {
  operation: Extract<Operation, { kind: "request" }>;
  /** As text. */
  status: string;
  /** `null`: no bytes were served, as with 304. */
  from: ServedFrom | null;
  /** By `performance.now()`. */
  startedAt: number;
}

/** Values that are read at each collection of metrics. */
export type GaugeName =
  | "renders_waiting"
  | "renders_running"
  | "jobs_waiting"
  | "due_oldest_seconds"
  | "images_held"
  | "reports_overdue"
  | "events_waiting"
  | "events_oldest_seconds"
  | "events_dead"
  | `sandbox_${SandboxLevel}`
  | "storage_free_bytes"
  | "storage_total_bytes"
  | "storage_free_inodes"
  | "storage_total_inodes";

/** Receives metrics and traces. Its methods add no errors of their own and cost next to nothing. */
export interface Observer {
  /**
   * Calls `work` once, immediately, and returns its result. Operations that begin meanwhile are its children.
   * @param outcomeOf maps the result to an outcome, one of few words: for a request its status, or `next` if
   * the host handled it. Absent: `ok`. A rejection's outcome is the error's code, `aborted`, or `error`.
   */
  observe<T>(operation: Operation, work: () => Promise<T>, outcomeOf?: (result: T) => string): Promise<T>;
  /** Reports where a rendition's bytes came from; called while the request is observed. */
  served(from: ServedFrom): void;
  /**
   * Reports a request that was answered within one synchronous call, instead of {@link observe} and {@link served}.
   * Absent: every request is observed.
   */
  answered?(request: AnsweredRequest): void;
  /**
   * Registers `read` to be called at every collection, until the returned function is called. Values of the
   * same name are summed.
   */
  gauge(name: GaugeName, read: () => number): () => void;
}

/** Optional ability of a store or database with a pool of connections. */
export interface ObservableWaits {
  /** Reports each wait for a connection while none is idle, connecting included, to the observer from now on. */
  observeWaits(observer: Observer): void;
}

export function hasObservableWaits(store: object): store is ObservableWaits {
  return "observeWaits" in store;
}
