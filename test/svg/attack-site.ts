import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that serves files without any protective header, and one that must receive no request. */
export interface AttackSite {
  /** Address of the server that must receive no request. */
  elsewhere: string;
  /** Paths requested from that server. */
  asked: string[];
  /** The address of an SVG, served until the site is closed. */
  show(file: string | Buffer): string;
  /** The address of a page with a frame of 100 by 100 for each address, ten in a row. */
  gather(addresses: readonly string[]): string;
  close(): void;
}

export async function startAttackSite(): Promise<AttackSite> {
  const files: { type: string; content: string | Buffer }[] = [];
  const asked: string[] = [];
  const here = createServer((request, response) => {
    const file = files[Number(request.url?.slice(1))];
    if (file === undefined) response.writeHead(404).end();
    else response.setHeader("Content-Type", file.type).end(file.content);
  });
  const elsewhere = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end();
  });
  const address = await listen(here);
  const show = (type: string, content: string | Buffer): string => {
    files.push({ type, content });
    return `${address}/${files.length - 1}`;
  };
  return {
    elsewhere: await listen(elsewhere),
    asked,
    show: (file) => show("image/svg+xml", file),
    gather(addresses) {
      const frames = addresses.map((each) => `<iframe src="${each}" width="100" height="100"></iframe>`);
      const style = "<style>body{margin:0;width:1000px;line-height:0}iframe{border:0}</style>";
      return show("text/html", `<!doctype html>${style}${frames.join("")}`);
    },
    close() {
      for (const server of [here, elsewhere]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens on TCP has an address of this kind.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
