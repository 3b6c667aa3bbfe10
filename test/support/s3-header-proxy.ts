import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { buffer } from "node:stream/consumers";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { serveHost } from "./listen.ts";
import type { S3Access } from "./s3-server.ts";

/** A gateway on this machine as one that takes no notice of some headers. */
export interface HeaderIgnoringProxy {
  endpoint: string;
  close(): Promise<void>;
}

/** As OpenStack Swift 2.30 answers a condition. */
const NOT_IMPLEMENTED =
  "<?xml version='1.0' encoding='UTF-8'?><Error><Code>NotImplemented</Code><Message>A header you provided implies " +
  "functionality that is not implemented.</Message></Error>";

/**
 * Passes all requests on but the writes that have one of these headers: as that is signed, it makes a write of its own of them.
 * @param headers in lower case.
 * @param isRefusing answers 501 instead, as OpenStack Swift does.
 */
export async function startHeaderIgnoringProxy(
  gateway: S3Access,
  headers: readonly string[],
  isRefusing = false,
): Promise<HeaderIgnoringProxy> {
  const { origin, close } = await serveHost((incoming, outgoing) => {
    if (headers.some((name) => incoming.headers[name] !== undefined)) {
      if (isRefusing) {
        incoming.resume().on("end", () => {
          outgoing.writeHead(501, { "content-type": "application/xml" }).end(NOT_IMPLEMENTED);
        });
        return;
      }
      write(gateway, incoming, outgoing).catch((error) => outgoing.destroy(error));
      return;
    }
    const { method, url, headers: passed } = incoming;
    const upstream = request(
      { host: "127.0.0.1", port: gateway.port, method, path: url, headers: passed },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        // Whichever side breaks off ends the other; the client tells what it met.
        pipeline(answer, outgoing, () => undefined);
      },
    );
    pipeline(incoming, upstream, () => undefined);
    upstream.on("error", (error) => outgoing.destroy(error));
  });
  return { endpoint: origin, close };
}

async function write(
  { client }: S3Access,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { pathname } = new URL(incoming.url ?? "", "http://localhost");
  const [, Bucket, ...segments] = decodeURIComponent(pathname).split("/");
  const metadata = Object.entries(incoming.headers).flatMap(([name, value]) =>
    name.startsWith("x-amz-meta-") ? [[name.slice("x-amz-meta-".length), String(value)]] : [],
  );
  const { ETag } = await client.send(
    new PutObjectCommand({
      Bucket,
      Key: segments.join("/"),
      Body: await buffer(incoming),
      Metadata: Object.fromEntries(metadata),
    }),
  );
  outgoing.writeHead(200, { etag: ETag ?? "", "content-length": "0" }).end();
}
