/** Advice that several checks give, each without a full stop. */
export const remedies = {
  trustProxy:
    'Have the app trust its proxy: Express app.set("trust proxy", 1), Koa app.proxy = true, outrigger serve trustProxy: 1; ' +
    "and have the proxy set X-Forwarded-Proto",
  mountFirst:
    "Mount Outrigger before body parsers (express.json(), multer, koa-body), or leave what they parsed on the request",
  shareStorage:
    "Give all processes the same storage and the same secret; what is kept in memory, one process alone has",
  noCompression: "Switch compression off for this path (nginx: gzip off)",
  ownErrors: "Let the replies of the app through as they are (nginx: proxy_intercept_errors off)",
  allowMethods:
    "Allow GET, HEAD, POST, PATCH, DELETE and OPTIONS in whatever is in front, and mount for all methods (app.use)",
  bodyLimit: "Raise the limit of whatever is in front to maxUploadBytes (nginx: client_max_body_size 26m)",
} as const;

/** @param base Of the mount, as it was asked. */
export function setPublicUrl(base: string): string {
  return `Set publicUrl: "${base}"`;
}
