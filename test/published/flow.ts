import { setTimeout as delay } from "node:timers/promises";
import { pngPhoto } from "../support/pictures.ts";
import { createChecks, editChecks, pageChecks, pdfChecks, readChecks } from "./flow-checks.ts";
import { refusalChecks, removalChecks } from "./flow-refusals.ts";
import { http1Client, http2Client, type Reply, type Sent } from "./http-client.ts";
import { MULTIPART, multipart, type Part } from "./multipart.ts";

export interface FlowOptions {
  /** Speaks HTTP/2 over TLS. @default HTTP/1.1 */
  isHttp2?: boolean;
  /** Opens a connection for each request, so that the processes of a cluster take turns. @default one connection */
  isSpread?: boolean;
  /** Headers that identify a user whom the host lets upload and edit. @default none */
  user?: Readonly<Record<string, string>>;
}

export interface Check {
  name: string;
  /** Absent if the check passed. */
  failure?: string;
}

export interface Created {
  id: string;
  url: string;
  editUrl: string;
  pin: string;
  name: string;
  width: number;
  pages: number;
  links: Record<string, string>;
}

/** What the checks share. The image of the flow is a PNG. */
export interface Walk {
  base: string;
  part: Part;
  image: Created;
  /** The reply to the upload of the image. */
  reply: Reply;
  check(name: string, run: () => Promise<void> | void): Promise<void>;
  /** As the user. */
  send(url: string, sent?: Sent): Promise<Reply>;
  /** As a client that the host does not know. */
  sendAsStranger(url: string, sent?: Sent): Promise<Reply>;
  /** Uploads a file. */
  create(part: Part, suffix?: string, isChunked?: boolean): Promise<Reply>;
  /** The address of the image with a suffix. */
  api(suffix: string): string;
  untilReady(id: string): Promise<void>;
}

const READY_MS = 100_000;
const AGENT = { "User-Agent": "Flow/1.0" };
const FILE_NAME = "Grüße aus 東京.png";

/**
 * Uploads, reads, edits and deletes images through a mount, from outside its process, and sends what must be refused. `base` is the
 * address of the mount. A check that fails does not end the flow.
 */
export async function flow(
  base: string,
  { isHttp2 = false, isSpread = false, user = {} }: FlowOptions = {},
): Promise<Check[]> {
  const client = isHttp2 ? http2Client(new URL(base).origin) : http1Client({ keepAlive: !isSpread });
  const checks: Check[] = [];
  const sendWith =
    (own: Readonly<Record<string, string>>) =>
    (url: string, { headers, ...sent }: Sent = {}) =>
      client.send(url, { ...sent, headers: { ...AGENT, ...own, ...headers } });
  const send = sendWith(user);
  const walk: Walk = {
    base,
    part: { bytes: await pngPhoto(400, 300), type: "image/png", fileName: FILE_NAME },
    image: { id: "", url: "", editUrl: "", pin: "", name: "", width: 0, pages: 0, links: {} },
    reply: { status: 0, headers: {}, body: Buffer.alloc(0) },
    async check(name, run) {
      try {
        await run();
        checks.push({ name });
      } catch (error) {
        checks.push({ name, failure: error instanceof Error ? error.message : String(error) });
      }
    },
    send,
    sendAsStranger: sendWith({}),
    create: (part, suffix = "json", isChunked = false) =>
      send(`${base}/api/images.${suffix}`, {
        method: "POST",
        headers: { "Content-Type": MULTIPART },
        body: multipart(part),
        isChunked,
      }),
    api: (suffix) => `${base}/api/images/${walk.image.id}.${suffix}`,
    async untilReady(id) {
      const until = Date.now() + READY_MS;
      while ((await send(`${base}/api/images/${id}.json`)).status === 202) {
        if (Date.now() > until) throw new Error("The image is still being processed");
        await delay(100);
      }
    },
  };
  try {
    await createChecks(walk);
    await readChecks(walk);
    await pageChecks(walk);
    await editChecks(walk);
    await pdfChecks(walk);
    await refusalChecks(walk);
    await removalChecks(walk);
    return checks;
  } finally {
    client.close();
  }
}
