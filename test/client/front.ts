import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { serveHost } from "../support/listen.ts";

/** A proxy's reply instead of the service's. */
export interface Interjection {
  status: number;
  headers?: Record<string, string>;
  body?: string;
  /** Whether the connection is cut after the body. @default false */
  isCut?: boolean;
}

/** A proxy in front of a service; it can reply itself. */
export interface Front {
  /** The service's address at the proxy's port. */
  base: string;
  /** All requests received, as `METHOD /path?query`, with their headers and the time (epoch ms). */
  requests: { line: string; headers: IncomingMessage["headers"]; atMs: number }[];
  /** Gives these replies to the next requests; later ones are forwarded. */
  interject(...answers: Interjection[]): void;
  close(): Promise<void>;
}

export async function startFront(site: { origin: string; base: string }): Promise<Front> {
  const requests: Front["requests"] = [];
  const waiting: Interjection[] = [];
  const { origin, close } = await serveHost((req, res) => {
    requests.push({ line: `${req.method} ${req.url}`, headers: req.headers, atMs: Date.now() });
    // The service decides on CORS for pages of another origin.
    const own = req.method === "OPTIONS" ? undefined : waiting.shift();
    if (own === undefined) return forward(site.origin, req, res);
    req.resume();
    req.on("end", () => answer(res, own));
  });
  return {
    base: `${origin}${site.base.slice(site.origin.length)}`,
    requests,
    interject: (...answers) => void waiting.push(...answers),
    close,
  };
}

function answer(res: ServerResponse, { status, headers = {}, body = "", isCut = false }: Interjection): void {
  res.writeHead(status, headers);
  if (!isCut) return void res.end(body);
  res.write(body, () => res.destroy());
}

function forward(origin: string, req: IncomingMessage, res: ServerResponse): void {
  const onward = request(origin + req.url, { method: req.method, headers: req.headers, agent: false });
  onward.on("response", (reply) => {
    res.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(res);
  });
  // If either side ends early, so does the other.
  onward.on("error", () => res.destroy());
  res.on("close", () => onward.destroy());
  req.pipe(onward);
}
