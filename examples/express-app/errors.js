// @ts-check

/** @type {import("express").RequestHandler} */
export const answerNotFound = (req, res) => {
  res.status(404).json({ error: `There is no ${req.path}` });
};

/** @type {import("express").ErrorRequestHandler} */
export const answerError = (error, _req, res, next) => {
  const status = error.status ?? 500;
  if (status >= 500) console.error(error);
  if (res.headersSent) next(error);
  else res.status(status).json({ error: status >= 500 ? "Something went wrong" : error.message });
};
