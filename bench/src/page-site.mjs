import { once } from "node:events";
import { createServer } from "node:http";

export const DOMAIN = "acme.localhost";
/** Links of the start page, and of each page behind it: no page is more than two links away. */
const FAN = 320;
const PEOPLE = 3;
const WORDS = "<p>Our office is open from Monday to Friday.</p>".repeat(40);

/**
 * Serves 100,000 pages with three people each on this machine.
 * @returns {Promise<{ port: number, close(): void }>}
 */
export async function startPageSite() {
  const server = createServer((req, res) => {
    const [, number] = /^\/(\d*)$/.exec(req.url ?? "") ?? [];
    if (number === undefined) return void res.writeHead(404).end();
    res.setHeader("Content-Type", "text/html; charset=utf-8");
    res.end(page(Number(number)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port");
  return {
    port: address.port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** @param {number} number The start page is 0. */
function page(number) {
  const links = Array.from({ length: number <= FAN ? FAN : 0 }, (_, index) => {
    const target = number * FAN + index + 1;
    return `<li><a href="/${target}">Page ${target}</a></li>`;
  });
  const cards = Array.from({ length: PEOPLE }, (_, index) => {
    const address = `person${number}.${index}@${DOMAIN}`;
    return `<div class="card"><h3>Ada Lovelace</h3><p>Engineer</p><a href="mailto:${address}">${address}</a></div>`;
  });
  return `<!doctype html><html lang="en"><title>Page ${number}</title><body>${WORDS}<div>${cards.join("")}</div><ul>${links.join("")}</ul></body></html>`;
}
