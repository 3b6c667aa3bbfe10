import { serveHost } from "../support/listen.ts";

/** A server that sends files without any protective header, and a server that must get no request. */
export interface AttackSite {
  /** Address of the server that must get no request. */
  elsewhere: string;
  /** Paths that were requested from this server. */
  asked: string[];
  /** Publishes an SVG until the site is closed. @returns its address. */
  show(file: string | Buffer): string;
  /** The address of a page with a frame of 100 by 100 for each of the addresses, ten in a row. */
  gather(addresses: readonly string[]): string;
  close(): Promise<void>;
}

export async function startAttackSite(): Promise<AttackSite> {
  const files: { type: string; content: string | Buffer }[] = [];
  const asked: string[] = [];
  const here = await serveHost((request, response) => {
    const file = files[Number(request.url?.slice(1))];
    if (file === undefined) response.writeHead(404).end();
    else response.setHeader("Content-Type", file.type).end(file.content);
  });
  const elsewhere = await serveHost((request, response) => {
    asked.push(request.url ?? "");
    response.end();
  });
  const show = (type: string, content: string | Buffer): string => {
    files.push({ type, content });
    return `${here.origin}/${files.length - 1}`;
  };
  return {
    elsewhere: elsewhere.origin,
    asked,
    show: (file) => show("image/svg+xml", file),
    gather(addresses) {
      const frames = addresses.map((each) => `<iframe src="${each}" width="100" height="100"></iframe>`);
      const style = "<style>body{margin:0;width:1000px;line-height:0}iframe{border:0}</style>";
      return show("text/html", `<!doctype html>${style}${frames.join("")}`);
    },
    async close() {
      await Promise.all([here.close(), elsewhere.close()]);
    },
  };
}
