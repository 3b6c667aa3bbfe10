import type { IncomingHttpHeaders } from "node:http";
import type { ImageFormat, OriginalType } from "./renderer.ts";

/** Which of a service's stores. */
export type StoreRole = "records" | "originals" | "renditions";

/** What is observed of a store: the methods of `BlobStore`, and those of its abilities that read or write. */
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

/** What an observer is told of before it begins. Names and types only: no address, no ID, no secret. */
export type Operation =
  | {
      kind: "request";
      /** `GET`, `HEAD`, `POST`, `PATCH`, `DELETE`, `OPTIONS`, or `other`. */
      method: string;
      /** The address below the mount point with its variable parts named, e.g. `/api/images/{id}.png`. One of some twenty. */
      route: string;
      /** Where a trace that began elsewhere is named (`traceparent`). */
      headers: IncomingHttpHeaders;
    }
  | { kind: "admit"; type: OriginalType }
  | { kind: "render"; type: OriginalType; format: ImageFormat }
  | { kind: "store"; role: StoreRole; method: StoreMethod }
  | { kind: "sweep" };

/** Where a picture came from. */
export type ServedFrom = "memory" | "store" | "render";

/** Numbers that are read when somebody collects them. */
export type GaugeName =
  | "renders_waiting"
  | "renders_running"
  | "jobs_waiting"
  | "storage_free_bytes"
  | "storage_total_bytes"
  | "storage_free_inodes"
  | "storage_total_inodes";

/** For metrics and traces. Its methods never throw of their own, and cost next to nothing. */
export interface Observer {
  /**
   * Runs `work` once, at once, and gives what it gives. Operations that begin while it runs belong to it.
   * @param outcomeOf names how it ended by its result, one of few words: for a request the status, or `next` where it was
   *   the host's after all. Without it, it ended `ok`. A rejection is the code of the error, `aborted`, or `error`.
   */
  observe<T>(operation: Operation, work: () => Promise<T>, outcomeOf?: (result: T) => string): Promise<T>;
  /** A picture's bytes were found, or made, for a reader; called while the request is observed. */
  served(from: ServedFrom): void;
  /**
   * Has `read` asked for a number whenever numbers are collected, until the returned function is called. Several of one
   * name are added up.
   */
  gauge(name: GaugeName, read: () => number): () => void;
}
