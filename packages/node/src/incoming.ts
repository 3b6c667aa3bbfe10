import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";

/**
 * A request as the functions that receive a body see it: an `IncomingMessage` of `node:http` or `node:http2`, or the
 * body of a web request as a stream.
 */
export interface Incoming extends Readable {
  readonly headers: IncomingHttpHeaders;
  /** Absent for a web request: its header need not show whether it has a body. */
  readonly httpVersionMajor?: number;
  /** Whether the host app has read the body without reading this stream. */
  readonly isTaken?: boolean;
}
