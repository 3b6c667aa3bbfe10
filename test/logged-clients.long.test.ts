import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import {
  jpeg,
  type OutriggerProcess,
  serve,
  temporaryDirectory,
} from "../packages/server/test/outrigger-process.ts";
import { MULTIPART, multipart } from "./published/multipart.ts";
import { type RunningProxy, startLighttpd, startNginx } from "./support/proxies.ts";

const PROXIES: Record<string, (port: string) => Promise<RunningProxy>> = {
  nginx: (port) =>
    startNginx(`location / {
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_pass http://127.0.0.1:${port};
    }`),
  lighttpd: (port) =>
    startLighttpd(`server.modules = ("mod_proxy")
      proxy.server = ("" => (("host" => "127.0.0.1", "port" => ${port})))`),
};
/** The proxies connect from 127.0.0.1. */
const CLIENT = "127.0.0.2";
const FORGED = { "X-Forwarded-For": "203.0.113.9", "X-Request-Id": "forged" };

async function upload(origin: string): Promise<IncomingMessage & { id: string }> {
  const body = multipart({ bytes: await jpeg(), type: "image/jpeg", fileName: "a.jpg" });
  const headers = { ...FORGED, "Content-Type": MULTIPART, "User-Agent": "Flow/1.0" };
  const sent = request(`${origin}/api/images.json`, { method: "POST", headers, localAddress: CLIENT });
  const [response] = await once(sent.end(body), "response");
  return Object.assign(response, { id: JSON.parse(await text(response)).id });
}

/** The first line of a log with these fields. */
function lineIn({ output }: OutriggerProcess, fields: Record<string, unknown>) {
  const lines = output.stderr.split("\n").filter((line) => line.startsWith("{"));
  const isIt = (line: Record<string, unknown>) =>
    Object.entries(fields).every(([name, value]) => line[name] === value);
  return lines.map((line) => JSON.parse(line)).find(isIt);
}

test.each(
  Object.keys(PROXIES).flatMap((proxy) => [
    [proxy, 1, "full", CLIENT] as const,
    [proxy, false, "full", "127.0.0.1"] as const,
    [proxy, 1, "network", "127.0.0.0/24"] as const,
    [proxy, 1, "none", undefined] as const,
  ]),
)(
  "behind %s with trustProxy %s and log.clients %s, an upload is logged with client %s and the ID of its request",
  async (name, trustProxy, clients, client) => {
    const cwd = await temporaryDirectory();
    const config = { trustProxy, log: { clients }, tls: "off" };
    await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify(config));
    const server = serve(cwd);
    const { port } = new URL(await server.url);
    const proxy = await PROXIES[name]?.(port);
    try {
      const { headers, id } = await upload(proxy?.origin ?? "");
      const requestId = headers["x-request-id"];
      expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
      const stored = () => lineIn(server, { id, requestId });
      await expect.poll(stored).toMatchObject({ agent: { name: "Flow", version: "1.0" } });
      expect(stored().client).toBe(client);
      await expect.poll(() => lineIn(server, { id: requestId })).toMatchObject({ method: "POST" });
      expect(server.output.stderr).not.toMatch(/203\.0\.113\.9|forged/);
    } finally {
      await proxy?.close();
    }
  },
);
