import type { Page, ReportInput, ReportView } from "@outrigger/core/images";
import { absoluteAddress } from "./addresses.ts";
import { documentPage, type Site } from "./document.ts";
import { type Html, type HtmlValue, html, textMarkup } from "./html.ts";
import { dateMarkup } from "./phrases.ts";
import { t, textOf, unitText } from "./texts.ts";

/** A reason for a report in words; an unknown one as it is. */
export function reasonText(reason: string): string {
  return textOf(`report.reason.${reason}`) ?? reason;
}

/** The form to report an image, or the reply to it. */
export function reportPage(view: ReportView, site: Site): Page {
  const action = absoluteAddress(view.action);
  const viewer = absoluteAddress(view.viewUrl);
  return documentPage({
    title: t(view.filed === undefined ? "report.link" : "report.received"),
    ...site,
    baseUrl: view.baseUrl,
    layout: "edit",
    main: html`<h1>${t(view.filed === undefined ? "report.link" : "report.received")}</h1>
<section>${view.filed === undefined ? form(view, action?.href) : receipt(view.filed)}</section>
${viewer !== null && html`<p class="actions"><a href="${viewer.href}">${t("unlock.back")}</a></p>`}`,
    forms: action === null ? [] : [action],
  });
}

function receipt({ reference, dueAt }: NonNullable<ReportView["filed"]>): Html {
  return html`<p role="status">${textMarkup("report.thanks", { date: dateMarkup(dueAt) })}</p>
<p>${textMarkup("report.reference", { reference: html`<code>${reference}</code>` })}</p>
<p class="hint">${t("report.keepReference")}</p>`;
}

function form(view: ReportView, action: string | undefined): Html {
  const { name, reasons, hours, typed } = view;
  const time = hours % 24 === 0 && hours > 24 ? unitText(hours / 24, "day") : unitText(hours, "hour");
  return html`<p>${textMarkup("report.intro", { name: html`<b dir="auto">${name}</b>`, time })}</p>
<form method="post" enctype="application/x-www-form-urlencoded"${action !== undefined && html` action="${action}"`}>
<label for="reason">${t("report.why")}</label>
<select id="reason" name="reason" required${faultOf(view, "reason")}><option value="">${t("report.chooseReason")}</option>${reasons.map(
    (reason) =>
      html`<option value="${reason}"${typed?.reason === reason && html` selected`}>${reasonText(reason)}</option>`,
  )}</select>
${faultText(view, "reason")}<label for="statement">${t("report.statement")}</label>
<textarea id="statement" name="statement" rows="6" maxlength="2000" dir="auto"${faultOf(view, "statement")}>
${typed?.statement}</textarea>
${faultText(view, "statement")}<label for="contact">${t("report.contact")}</label>
<input id="contact" name="contact" maxlength="320" autocomplete="email" placeholder="${t("report.contactPlaceholder")}" dir="auto" value="${typed?.contact}"${faultOf(view, "contact", "contact-hint")}>
${faultText(view, "contact")}<p class="hint" id="contact-hint">${t("report.contactHint")}</p>
<button class="main">${t("report.send")}</button>
</form>`;
}

/** The first wrong field gets the focus. */
function faultOf({ faults = [] }: ReportView, name: keyof ReportInput, hint = ""): HtmlValue {
  if (!faults.includes(name)) return hint !== "" && html` aria-describedby="${hint}"`;
  return html` aria-invalid="true" aria-describedby="${`${name}-fault ${hint}`.trim()}"${faults[0] === name && html` autofocus`}`;
}

function faultText({ faults = [] }: ReportView, name: keyof ReportInput): HtmlValue {
  return (
    faults.includes(name) && html`<p class="fault" id="${name}-fault">${t(`report.fault.${name}`)}</p>\n`
  );
}
