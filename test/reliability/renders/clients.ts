import { request } from "node:http";
import { buffer } from "node:stream/consumers";
import type { Host } from "../../support/hosts.ts";
import type { Created } from "../../support/service.ts";

export interface Answer {
  status: number;
  body: Buffer;
}

/** A client with its own address. */
export interface Client {
  get(path: string): Promise<Answer>;
  upload(bytes: Buffer, type: string): Promise<Answer>;
}

/** @param host the last number of its address, 127.0.0.`host`. */
export function clientAt(site: Pick<Host, "base">, host: number): Client {
  const send = (path: string, method: string, type?: string, body?: Buffer) =>
    new Promise<Answer>((resolve, reject) => {
      const headers = {
        "User-Agent": "OutriggerTest/1.0",
        ...(type === undefined ? {} : { "Content-Type": type, "Content-Length": String(body?.length) }),
      };
      request(
        `${site.base}/${path}`,
        { method, headers, localAddress: `127.0.0.${host}`, agent: false },
        (res) => {
          buffer(res).then((bytes) => resolve({ status: res.statusCode ?? 0, body: bytes }), reject);
        },
      )
        .on("error", reject)
        .end(body);
    });
  return {
    get: (path) => send(path, "GET"),
    upload(bytes, type) {
      const head = `--x\r\nContent-Disposition: form-data; name="imagedata"; filename="a"\r\nContent-Type: ${type}\r\n\r\n`;
      const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from("\r\n--x--\r\n")]);
      return send("api/images.json", "POST", "multipart/form-data; boundary=x", body);
    },
  };
}

/** Uploads for a test that needs the image. */
export async function uploadAs(client: Client, bytes: Buffer, type: string): Promise<string> {
  const { status, body } = await client.upload(bytes, type);
  if (status !== 201) throw new Error(`${status}: ${body}`);
  return (JSON.parse(body.toString()) as Created).id;
}
