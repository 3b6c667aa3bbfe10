import http from "node:http";
import https from "node:https";

const PUBLIC_HOST = "api.hunter.io";

/**
 * Sends what programs in this process would send to the public API by HTTPS to another place instead, as it is; to anybody else
 * nothing can be sent. `onRequest` receives each request line.
 *
 * @returns takes that back.
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

// For programs that are started with this in front of them.
if (process.env.REDIRECT_HTTPS_TO !== undefined) redirectHttps(process.env.REDIRECT_HTTPS_TO);
