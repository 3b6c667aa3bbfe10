import type { Service } from "@outrigger/core";
import { baseOf, reply, wantsHtml } from "./replies.ts";

/** The command that uploads a picture to the service at `base`. */
export function uploadCommand(base: string): string {
  return `curl -F imagedata=@picture.jpg ${base.replace(/\/$/, "")}/api/images.json`;
}

export interface TerminalGuideOptions {
  publicUrl?: string;
  /** `false` where there is none. */
  lookup: object | false;
}

/** `GET /` for programs such as curl: how to upload and to look up, as text. Browsers get the upload page that is behind it. */
export function createTerminalGuide({ publicUrl, lookup }: TerminalGuideOptions): Service {
  return {
    async handle(call) {
      const isRead = call.method === "GET" || call.method === "HEAD";
      // Without a host there is no address to tell of; the images refuse that.
      const hasAddress = publicUrl !== undefined || call.origin !== "";
      if (call.path !== "/" || !isRead || wantsHtml(call) || !hasAddress) return undefined;
      const text = guide(baseOf(call, publicUrl), lookup !== false);
      return reply(call, 200, "text/plain; charset=utf-8", text, { Vary: "Accept" });
    },
  };
}

function guide(base: string, hasLookup: boolean): string {
  const images = `Outrigger

Upload a picture:

  ${uploadCommand(base)}
  outrigger upload picture.jpg --to ${base}

The answer names the address of the picture, when it expires, and a PIN to change or delete it.
`;
  const lookup = `
Look up the email addresses of a domain (keys are made by: outrigger keys create):

  curl "${base}/v2/domain-search?domain=example.com&api_key=<key>"
`;
  return `${images}${hasLookup ? lookup : ""}
All addresses: ${base}/api in a browser, ${base}/api/openapi.json for programs.
`;
}
