import type { Page, UnlockView } from "@outrigger/core/images";
import { absoluteAddress, formAddress } from "./addresses.ts";
import { documentPage } from "./document.ts";
import { html } from "./html.ts";

/** The page that asks for the PIN of an edit page. */
export function unlockPage({ baseUrl, action, viewUrl, problem }: UnlockView, productName: string): Page {
  const target = formAddress(action);
  const view = absoluteAddress(viewUrl);
  const isRefused = problem !== undefined;
  return documentPage({
    title: "Enter PIN",
    productName,
    baseUrl,
    layout: "problem",
    entry: "edit",
    head: html`<meta name="referrer" content="no-referrer">`,
    main: html`<div class="card"><h1>Enter PIN</h1>
${isRefused && html`<p class="banner alarm" role="alert" id="pin-problem">${problem}</p>`}
<p id="pin-hint">To edit or delete this image, enter its 16-character PIN (example: <code>4T9XK2M7Q8ZB3V5N</code>). You’ll find it at the end of the edit link.</p>
<form method="get"${target !== null && html` action="${target.href}"`}><label for="pin">PIN</label>
<input id="pin" class="pin" name="pin" required autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="64"
 aria-describedby="${isRefused ? "pin-problem pin-hint" : "pin-hint"}"${isRefused && html` aria-invalid="true"`}><button>Continue</button></form>
${view !== null && html`<p class="actions"><a href="${view.href}">Back to the image</a></p>`}
</div>`,
    forms: target === null ? [] : [target],
  });
}
