import http from "node:http";
import https from "node:https";

const PUBLIC_HOST = "api.hunter.io";

/**
 * Redirects HTTPS requests that programs in this process send to the public API to another server, unchanged; requests
 * to other hosts throw. `onRequest` is called with each request line.
 * @returns a function that undoes this.
 */
export function redirectHttps(base, onRequest = () => {}) {
  const { hostname, port, pathname } = new URL(base);
  const request = https.request;
  https.request = (options, onReply) => {
    if (options.hostname !== PUBLIC_HOST) throw new Error(`A request to ${options.hostname}`);
    const method = options.method.toUpperCase();
    onRequest(`${method} ${options.path}`);
    const path = pathname + options.path;
    const headers = { ...options.headers, host: `${hostname}:${port}` };
    return http.request({ method, headers, hostname, port, path, agent: false }, onReply);
  };
  return () => {
    https.request = request;
  };
}

// For programs started with `--import` of this module.
if (process.env.REDIRECT_HTTPS_TO !== undefined) redirectHttps(process.env.REDIRECT_HTTPS_TO);
