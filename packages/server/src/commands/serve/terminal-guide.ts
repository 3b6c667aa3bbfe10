import type { Service } from "@outrigger/core";
import { baseOf, reply, wantsHtml } from "./replies.ts";

/** The command that uploads a picture to the service at `base`. */
export function uploadCommand(base: string): string {
  return `curl -F imagedata=@picture.jpg ${base.replace(/\/$/, "")}/api/images.json`;
}

export interface TerminalGuideOptions {
  publicUrl?: string | undefined;
  /** `false` if the lookup is off. */
  lookup: object | false;
}

/** Answers `GET /` from programs such as curl with a text about uploads and lookups. Browsers get the upload page instead. */
export function createTerminalGuide({ publicUrl, lookup }: TerminalGuideOptions): Service {
  return {
    async handle(call) {
      const isRead = call.method === "GET" || call.method === "HEAD";
      // Without a Host header the address is unknown; the image service rejects the request.
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

The reply has the address of the picture, its expiry, and a PIN to edit or delete it.
`;
  const lookup = `
Look up the email addresses of a domain (create a key with: outrigger keys create):

  curl "${base}/v2/domain-search?domain=example.com&api_key=<key>"
`;
  return `${images}${hasLookup ? lookup : ""}
All addresses: ${base}/api in a browser, ${base}/api/openapi.json for programs.
`;
}
