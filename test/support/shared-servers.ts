import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type S3Server, SHARED_S3, startS3Server } from "./s3-server.ts";

/** Vitest runs this before the tests of each project, and what it returns at the end. */
export default async function shareServers(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[SHARED_S3] !== undefined) return undefined;
  let s3: Promise<S3Server> | undefined;
  const server = createServer((_request, response) => {
    s3 ??= startS3Server();
    s3.then(
      ({ endpoint, port, credentials }) => response.end(JSON.stringify({ endpoint, port, credentials })),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  process.env[SHARED_S3] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async () => {
    server.closeAllConnections();
    server.close();
    await (await s3)?.stop();
  };
}
