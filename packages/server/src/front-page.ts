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

/** `GET /`: says how to upload, as a page or as text. Whatever service stands before it and has a page of its own wins. */
export function createFrontPage({ publicUrl }: { publicUrl?: string }): Service {
  return {
    async handle(call) {
      if (call.path !== "/") return undefined;
      const refusal = methodRefusal(call);
      if (refusal !== null) return refusal;
      const command = uploadCommand(baseOf(call, publicUrl));
      const vary = { Vary: "Accept" };
      if (!wantsHtml(call)) return reply(call, 200, "text/plain; charset=utf-8", asText(command), vary);
      return reply(call, 200, "text/html; charset=utf-8", asHtml(command), {
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

const EXPLANATION =
  "The answer names the address of the picture, when it expires, and a PIN to change or delete it.";

function asText(command: string): string {
  return `Outrigger: image hosting\n\nUpload a picture:\n\n  ${command}\n\n${EXPLANATION}\n`;
}

function asHtml(command: string): string {
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
<p>Upload a picture from a terminal:</p>
<pre><code>${escapeHtml(command)}</code></pre>
<p>${EXPLANATION}</p>
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
