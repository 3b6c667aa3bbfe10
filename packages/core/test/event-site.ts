import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { afterEachTest } from "../../../test/support/hooks.ts";
import { listen } from "../../../test/support/listen.ts";
import { readAll } from "../src/stores/blob-body.ts";

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** An event as a receiver gets it, once its signature is verified. */
export interface Received {
  id: string;
  type: string;
  image: string;
  data: Record<string, unknown>;
  text: string;
  headers: IncomingHttpHeaders;
}

/** A receiver of webhooks on this machine. */
export interface Receiver {
  url: string;
  /** The entry for `internalHosts`. */
  host: string;
  events: Received[];
  /** `type image` of each event, in order. */
  told(): string[];
  /** Answers the next requests. */
  answer(response: ServerResponse): void;
}

const closing: (() => Promise<void>)[] = [];

afterEachTest(async () => {
  for (const close of closing.splice(0)) await close();
});

/** @param answer Answers a request; by default with 204. */
export async function startReceiver(
  answer: Receiver["answer"] = (response) => response.writeHead(204).end(),
): Promise<Receiver> {
  const events: Received[] = [];
  const server = createServer(async (request, response) => {
    const text = String(await readAll(request));
    const { headers } = request;
    new Webhook(SECRET).verify(text, Object(headers)); // Throws for a wrong signature: the test gets no event.
    const { type, data } = JSON.parse(text);
    events.push({ id: String(headers["webhook-id"]), type, image: data.image?.id, data, text, headers });
    receiver.answer(response);
  });
  const { port, origin, close } = await listen(server);
  closing.push(close);
  const receiver: Receiver = {
    url: `${origin}/hook`,
    host: `127.0.0.1:${port}`,
    events,
    told: () => events.map(({ type, image }) => `${type} ${image}`),
    answer,
  };
  return receiver;
}

/** The option `webhooks` for these receivers. */
export function webhooksTo(...receivers: Receiver[]) {
  return {
    endpoints: receivers.map(({ url }) => ({ url, secret: SECRET })),
    internalHosts: receivers.map(({ host }) => host),
  };
}
