import { connect, createServer } from "node:http2";
import { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { toFetchHandler } from "@outrigger/fetch";
import { nodeListener } from "@outrigger/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listen } from "./support/listen.ts";
import { startSite } from "./support/quick-site.ts";
import type { Site } from "./support/service.ts";

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.close());

const TERMS = '{"expiresIn":"12h"}';

/** Hours until the end of a ticket, from the reply that has it. */
const hoursLeft = ({ until }: { until?: string }) =>
  Math.round((Date.parse(until ?? "") - Date.now()) / 3_600_000);

test("the terms of a ticket are read from a body without a length, over HTTP/2 and in a fetch handler", async () => {
  const running = await listen(createServer(nodeListener(site.images) as never));
  const session = connect(running.origin);
  const ask = async (body: string | null) => {
    const headers = { ":method": "POST", ":path": "/api/tickets.json", "content-type": "application/json" };
    const stream = session.request(headers);
    stream.end(body ?? undefined);
    return Object(await json(stream));
  };
  expect([hoursLeft(await ask(TERMS)), hoursLeft(await ask(null))]).toEqual([12, 0]);
  expect(await ask('{"pin":1}')).toMatchObject({ status: 400, detail: "pin must be true or false" });
  session.close();
  await running.close();

  const handle = toFetchHandler(site.images, { clientAddress: () => "127.0.0.1" });
  const send = async (body: string | null) => {
    const init: RequestInit & { duplex: "half" } = {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      duplex: "half",
      ...(body && { body: Readable.toWeb(Readable.from([Buffer.from(body)])) as ReadableStream }),
    };
    const reply = await handle(new Request("http://localhost/api/tickets.json", init));
    return Object(await reply.json());
  };
  expect([hoursLeft(await send(TERMS)), hoursLeft(await send(null))]).toEqual([12, 0]);
});
