import type { Page, ReportInput, ReportView } from "@outrigger/core/images";
import { absoluteAddress } from "./addresses.ts";
import { documentPage, type Site } from "./document.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { dateMarkup } from "./phrases.ts";
import { type TextKey, t } from "./texts.ts";

const REASONS: Readonly<Record<string, TextKey>> = {
  intimate_image: "report.reason.intimate_image",
  child_abuse: "report.reason.child_abuse",
  privacy: "report.reason.privacy",
  copyright: "report.reason.copyright",
  violence: "report.reason.violence",
  malware: "report.reason.malware",
  other: "report.reason.other",
};

const FAULTS: Readonly<Record<keyof ReportInput, string>> = {
  reason: "Choose a reason.",
  statement: "Enter at most 2,000 characters.",
  contact: "Enter at most 320 characters.",
};

/** A reason for a report in words; an unknown one as it is. */
export function reasonText(reason: string): string {
  const key = REASONS[reason];
  return key === undefined ? reason : t(key);
}

/** The form to report an image, or the reply to it. */
export function reportPage(view: ReportView, site: Site): Page {
  const action = absoluteAddress(view.action);
  const viewer = absoluteAddress(view.viewUrl);
  return documentPage({
    title: view.filed === undefined ? "Report this image" : "Report received",
    ...site,
    baseUrl: view.baseUrl,
    layout: "edit",
    main: html`<h1>${view.filed === undefined ? "Report this image" : "Report received"}</h1>
<section>${view.filed === undefined ? form(view, action?.href) : receipt(view.filed)}</section>
${viewer !== null && html`<p class="actions"><a href="${viewer.href}">Back to the image</a></p>`}`,
    forms: action === null ? [] : [action],
  });
}

function receipt({ reference, dueAt }: NonNullable<ReportView["filed"]>): Html {
  return html`<p role="status">Thank you. We will review the image by ${dateMarkup(dueAt)}.</p>
<p>Your reference: <code>${reference}</code></p>
<p class="hint">Keep the reference if you want to ask about this report.</p>`;
}

function form(view: ReportView, action: string | undefined): Html {
  const { name, reasons, hours, typed } = view;
  const time =
    hours % 24 === 0 && hours > 24 ? `${hours / 24} days` : hours === 1 ? "1 hour" : `${hours} hours`;
  return html`<p>You report <b dir="auto">${name}</b> to the operator of this site, who reviews it within ${time}. The uploader does not learn who you are.</p>
<form method="post" enctype="application/x-www-form-urlencoded"${action !== undefined && html` action="${action}"`}>
<label for="reason">Reason</label>
<select id="reason" name="reason" required${faultOf(view, "reason")}><option value="">Choose a reason</option>${reasons.map(
    (reason) =>
      html`<option value="${reason}"${typed?.reason === reason && html` selected`}>${reasonText(reason)}</option>`,
  )}</select>
${faultText(view, "reason")}<label for="statement">Why should it be removed? (optional)</label>
<textarea id="statement" name="statement" rows="6" maxlength="2000" dir="auto"${faultOf(view, "statement")}>
${typed?.statement}</textarea>
${faultText(view, "statement")}<label for="contact">How can we reach you? (optional)</label>
<input id="contact" name="contact" maxlength="320" autocomplete="email" placeholder="Email address" dir="auto" value="${typed?.contact}"${faultOf(view, "contact", "contact-hint")}>
${faultText(view, "contact")}<p class="hint" id="contact-hint">We use it for this report only, and erase it 90 days after the decision.</p>
<button class="main">Send report</button>
</form>`;
}

/** The first wrong field gets the focus. */
function faultOf({ faults = [] }: ReportView, name: keyof ReportInput, hint = ""): HtmlValue {
  if (!faults.includes(name)) return hint !== "" && html` aria-describedby="${hint}"`;
  return html` aria-invalid="true" aria-describedby="${`${name}-fault ${hint}`.trim()}"${faults[0] === name && html` autofocus`}`;
}

function faultText({ faults = [] }: ReportView, name: keyof ReportInput): HtmlValue {
  return faults.includes(name) && html`<p class="fault" id="${name}-fault">${FAULTS[name]}</p>\n`;
}
