import type { IncomingHttpHeaders } from "node:http";
import type { ImageFormat, OriginalType } from "./renderer.ts";

/** Which of a service's stores. */
export type StoreRole = "records" | "originals" | "renditions";

/** What an observer is told of before it begins. Names and types only: no address, no ID, no secret. */
export type Operation =
  | {
      kind: "request";
      method: string;
      /** The address with its variable parts named, e.g. `/api/images/{id}.png`. */
      route: string;
      /** Where a trace that began elsewhere is named (`traceparent`). */
      headers: IncomingHttpHeaders;
    }
  | { kind: "admit"; type: OriginalType }
  | { kind: "render"; type: OriginalType; format: ImageFormat }
  | { kind: "store"; role: StoreRole; method: "put" | "adopt" | "get" | "stat" | "delete" | "list" }
  | { kind: "sweep" };

/** Where a picture came from. */
export type ServedFrom = "memory" | "store" | "render";

/** For metrics and traces. Its methods never throw of their own, and cost next to nothing. */
export interface Observer {
  /**
   * Runs `work` once, at once, and gives what it gives. Operations that begin while it runs belong to it.
   * @param outcomeOf names how it ended by its result, e.g. an HTTP status; without it, it ended `ok`. A rejection is the
   *   code of the error, or `error`.
   */
  observe<T>(operation: Operation, work: () => Promise<T>, outcomeOf?: (result: T) => string): Promise<T>;
  /** A picture's bytes were found, or made, for a reader. */
  served(from: ServedFrom): void;
  /** Has `read` asked for a number whenever numbers are collected, until the returned function is called. */
  gauge(name: "renders_waiting" | "renders_running" | "jobs_waiting", read: () => number): () => void;
}
