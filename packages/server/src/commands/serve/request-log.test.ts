import { Writable } from "node:stream";
import { pino } from "pino";
import { expect, test } from "vitest";
import { serveHost } from "../../../../../test/support/listen.ts";
import { createRequestLog } from "./request-log.ts";

test("the request log warns of failures only: 500 is an error, later statuses are warnings, and 501 is a refusal", async () => {
  const levels: Record<string, number> = {};
  const lines = new Writable({
    write(line, _, done) {
      const { status, level } = JSON.parse(String(line));
      levels[status] = level;
      done();
    },
  });
  const log = createRequestLog(pino(lines), false);
  const { origin, close } = await serveHost((req, res) =>
    log(req, res, () => res.writeHead(Number(req.url?.slice(1))).end()),
  );
  try {
    for (const status of [200, 404, 500, 501, 503]) {
      expect((await fetch(`${origin}/${status}`)).status).toBe(status);
    }
    await expect.poll(() => levels).toEqual({ 200: 30, 404: 30, 500: 50, 501: 30, 503: 40 });
  } finally {
    await close();
  }
});
