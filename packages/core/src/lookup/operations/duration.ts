import type { Query } from "../http/query.ts";
import { wholeParameter } from "../http/query.ts";

/** `max_duration`: how long the client waits, in milliseconds; given in seconds. */
export function parseMaxDuration(query: Query): number {
  const bounds = { min: 3, max: 20, default: 10, id: "invalid_max_duration" } as const;
  return 1000 * wholeParameter(query, "max_duration", bounds);
}
