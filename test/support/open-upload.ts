import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import type { Site } from "./service.ts";

/** An upload whose body the test sends as it likes. */
export function openUpload(site: Site, headers: Record<string, string>) {
  const outgoing = request(`${site.base}/api/images.json`, {
    method: "POST",
    headers: { "User-Agent": "OutriggerTest/1.0", ...headers },
    agent: false,
  });
  // A service that answers before it has read everything may cut the connection.
  outgoing.on("error", () => {});
  const answered = once(outgoing, "response").then(([response]) => response as IncomingMessage);
  return { outgoing, answered };
}
