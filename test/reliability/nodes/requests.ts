import { once } from "node:events";
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface Question {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** Keeps connections open, one for each concurrent request. */
const agent = new Agent({ keepAlive: true, maxFreeSockets: 1000 });

/** Sends a request to a node. Rejects without a complete reply. */
export async function ask(url: string, { body, ...options }: Question = {}): Promise<Answer> {
  const outgoing = request(url, { agent, ...options });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: await buffer(incoming) };
}

/** Number of occurrences of each text. */
export function tally(texts: Iterable<string>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
}
