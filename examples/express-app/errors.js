// @ts-check
import { isServiceError } from "@outrigger/core";

/**
 * How this app replies to calls of Outrigger that reject; any other code is its own failure.
 * @type {Partial<Record<import("@outrigger/core").ErrorCode, number>>}
 */
const STATUSES = { bad_request: 422, withheld: 422, too_large: 413, unsupported_media: 415, conflict: 409 };

/** @type {import("express").RequestHandler} */
export const answerNotFound = (req, res) => {
  res.status(404).json({ error: `There is no ${req.path}` });
};

/** @type {import("express").ErrorRequestHandler} */
export const answerError = (error, _req, res, next) => {
  const status = isServiceError(error) ? (STATUSES[error.code] ?? 500) : (error.status ?? 500);
  if (status >= 500) console.error(error);
  if (res.headersSent) next(error);
  else res.status(status).json({ error: status >= 500 ? "Something went wrong" : error.message });
};
