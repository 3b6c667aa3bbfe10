import { createHash } from "node:crypto";
import type { Call, Service } from "@outrigger/core";
import { methodRefusal, reply, wantsHtml } from "./replies.ts";

const STYLE = `
:root { color-scheme: light dark; }
body { max-width: 44rem; margin: 3rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
pre { padding: .75rem 1rem; border: 1px solid; border-radius: .5rem; white-space: pre-wrap; }
`;
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The command that uploads a picture to the service at `base`. */
export function uploadCommand(base: string): string {
  return `curl -F imagedata=@picture.jpg ${base.replace(/\/$/, "")}/api/images.json`;
}

/** The command that asks the lookup at `base` for the addresses of a domain. */
export function searchCommand(base: string): string {
  return `curl "${base.replace(/\/$/, "")}/v2/domain-search?domain=example.com&api_key=<key>"`;
}

export interface FrontPageOptions {
  publicUrl?: string;
  /** `false` where there is none. */
  lookup: object | false;
}

/** `GET /`: says how to upload and to look up, as a page or as text. Whatever service stands before it and has a page of its own wins. */
export function createFrontPage({ publicUrl, lookup }: FrontPageOptions): Service {
  return {
    async handle(call) {
      if (call.path !== "/") return undefined;
      const refusal = methodRefusal(call);
      if (refusal !== null) return refusal;
      const base = baseOf(call, publicUrl);
      const said = [{ what: "Upload a picture", command: uploadCommand(base), explanation: EXPLANATION }];
      if (lookup !== false) said.push({ ...LOOKUP, command: searchCommand(base) });
      const vary = { Vary: "Accept" };
      if (!wantsHtml(call)) return reply(call, 200, "text/plain; charset=utf-8", asText(said), vary);
      return reply(call, 200, "text/html; charset=utf-8", asHtml(said), {
        ...vary,
        "Content-Security-Policy": POLICY,
        "Referrer-Policy": "no-referrer",
      });
    },
  };
}

function baseOf(call: Call, publicUrl: string | undefined): string {
  return publicUrl ?? call.origin + call.mountPath;
}

/** Something that can be done here. */
interface Errand {
  what: string;
  command: string;
  explanation: string;
}

const EXPLANATION =
  "The answer names the address of the picture, when it expires, and a PIN to change or delete it.";

const LOOKUP = {
  what: "Look up the email addresses of a domain",
  explanation: "Keys are made by: outrigger keys create",
};

function asText(errands: readonly Errand[]): string {
  const said = errands.map(
    ({ what, command, explanation }) => `${what}:\n\n  ${command}\n\n${explanation}\n`,
  );
  return ["Outrigger\n", ...said].join("\n");
}

function asHtml(errands: readonly Errand[]): string {
  const said = errands.map(
    ({ what, command, explanation }) => `<p>${escapeHtml(what)} from a terminal:</p>
<pre><code>${escapeHtml(command)}</code></pre>
<p>${escapeHtml(explanation)}</p>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Outrigger</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Outrigger</h1>
${said.join("\n")}
</main>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
