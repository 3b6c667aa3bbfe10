import type { Query } from "../http/query.ts";
import { type WholeSchema, wholeParameter } from "../http/query.ts";

/** The parameter `max_duration`. */
export const MAX_DURATION_SCHEMA = {
  type: "integer",
  minimum: 3,
  maximum: 20,
  default: 10,
  description: "How long to wait for mail servers, in seconds.",
} as const satisfies WholeSchema;

/** `max_duration`: how long the client waits, in milliseconds; given in seconds. */
export function parseMaxDuration(query: Query): number {
  return 1000 * wholeParameter(query, "max_duration", MAX_DURATION_SCHEMA, "invalid_max_duration");
}
