import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { safeHeaders, safeTarget } from "./redact.ts";

/** Paths of probes. Their frequent requests are logged only at `debug`. */
const PROBES = new Set(["/healthz", "/readyz"]);

/**
 * Gives every request an ID (`X-Request-Id` of the reply) and logs it after the reply: method, path, status, milliseconds,
 * bytes sent including headers. Level `debug` adds the request headers. Secrets are omitted. The images log the ID with an upload.
 * @param hasAddresses Whether the headers may have clients' addresses.
 */
export function createRequestLog(logger: Logger, hasAddresses: boolean) {
  return (req: IncomingMessage, res: ServerResponse, next: () => void): void => {
    const id = randomUUID();
    const startedAt = performance.now();
    const { socket } = req;
    const sentBefore = socket.bytesWritten;
    const target = req.url ?? "";
    res.setHeader("X-Request-Id", id);
    requestIds.set(req, id);
    // Replaces that of the client, which may be invented.
    req.headers["x-request-id"] = id;
    if (logger.isLevelEnabled("debug")) {
      logger.debug({ id, headers: safeHeaders(req.headers, hasAddresses) }, "request");
    }
    res.once("close", () => {
      const level = levelOf(res, target);
      if (!logger.isLevelEnabled(level)) return;
      logger[level](
        {
          id,
          method: req.method,
          path: safeTarget(target),
          status: res.statusCode,
          ms: Math.round((performance.now() - startedAt) * 10) / 10,
          bytes: socket.bytesWritten - sentBefore,
          ...(res.writableFinished ? {} : { left: true }),
        },
        res.writableFinished ? "answered" : "client left",
      );
    });
    next();
  };
}

const requestIds = new WeakMap<object, string>();

/** The ID of a request; `undefined` if the request log did not handle it. */
export function requestIdOf(req: unknown): string | undefined {
  return typeof req === "object" && req !== null ? requestIds.get(req) : undefined;
}

function levelOf(res: ServerResponse, target: string): "debug" | "info" | "warn" | "error" {
  if (res.statusCode === 500) return "error";
  // 501 is a final answer, not a failure.
  if (res.statusCode > 501) return "warn";
  return PROBES.has(target) ? "debug" : "info";
}
