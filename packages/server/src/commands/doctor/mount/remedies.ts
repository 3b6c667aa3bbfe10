/** Remedies of several checks, without a full stop. */
export const remedies = {
  trustProxy:
    'Let the app trust its proxy: Express app.set("trust proxy", 1), Koa app.proxy = true, outrigger serve trustProxy: 1; ' +
    "and let the proxy set X-Forwarded-Proto",
  mountFirst:
    "Mount Outrigger before body parsers (express.json(), multer, koa-body), or keep the parsed body on the request",
  shareStorage:
    "Configure the same storage and secret for all processes; storage in memory is visible to one process only",
  noCompression: "Switch compression off for this path (nginx: gzip off)",
  ownErrors: "Forward the replies of the app unchanged (nginx: proxy_intercept_errors off)",
  allowMethods:
    "Allow GET, HEAD, POST, PATCH, DELETE and OPTIONS in the proxy in front, and mount for all methods (app.use)",
  bodyLimit: "Raise the body limit of the proxy in front to maxUploadBytes (nginx: client_max_body_size 26m)",
} as const;

/** @param base Address of the mount, as requested. */
export function setPublicUrl(base: string): string {
  return `Set publicUrl: "${base}"`;
}
