import type { UploadForm, UploadRefusal, UploadView } from "@outrigger/core/images";
import type { Address } from "./addresses.ts";
import { typesText } from "./formats.ts";
import { type Html, html } from "./html.ts";
import { sizeText, waitText, withDates } from "./phrases.ts";
import { descriptionField } from "./subject.ts";
import { t } from "./texts.ts";
import { durationText, lifetimeChoices, lifetimeMs } from "./time-left.ts";
import { quoted, uploadRefusal } from "./upload-refusal.ts";

/** The form for browsers that do not run the script. */
export function uploadForm(view: UploadView, form: UploadForm, action: Address): Html {
  const { types, maxUploadBytes, defaultLifetimeMs, refusal } = view;
  const { fileField, typed } = form;
  const choices = lifetimeChoices(view);
  const chosen = choices.find((ms) => fieldValue(ms) === typed?.expiresIn) ?? lifetimeMs(defaultLifetimeMs);
  const described = refusal === undefined ? "file-hint" : "refusal file-hint";
  return html`<section><form method="post" enctype="multipart/form-data" action="${action.href}">
<label for="file">${t("upload.file")}</label>
<input id="file" name="${fileField}" type="file" required accept="${types.filter((type) => type !== "image/heic").join(",")},.psd" aria-describedby="${described}"${
    refusal !== undefined && html` autofocus`
  }>
<p class="hint" id="file-hint">${t("upload.accepted", { types: typesText(types), size: sizeText(maxUploadBytes) })}</p>
<label for="name">${t("uploads.name")}</label>
<input id="name" name="name" value="${typed?.name ?? ""}" maxlength="255" placeholder="${t("uploads.namePlaceholder")}" autocomplete="off" dir="auto">
${descriptionField(typed?.description, null)}
<label for="expires-in">${t("uploads.deleteAfter")}</label>
<select id="expires-in" name="expiresIn">${choices.map(
    (ms) =>
      html`<option value="${fieldValue(ms)}"${ms === chosen && html` selected`}>${durationText(ms)}</option>`,
  )}</select>
<button class="main">${t("upload.submit")}</button>
</form></section>`;
}

/** Value of the field for a lifetime. */
function fieldValue(ms: number): string {
  return ms === Number.POSITIVE_INFINITY ? "never" : String(ms);
}

/** Why the form was refused. */
export function refusalBanner({ status, detail, retryAfterSeconds }: UploadRefusal, maxBytes: number): Html {
  const reason =
    status === 413 ? t("refused.largeLimit", { limit: sizeText(maxBytes) }) : uploadRefusal(status);
  const again = retryAfterSeconds !== undefined && t("wait.again", { time: waitText(retryAfterSeconds) });
  const said = !SAYING_ENOUGH.includes(status) && withDates(quoted(detail));
  return html`<p class="banner alarm" role="alert" id="refusal">${reason} ${again} ${said}</p>`;
}

/** Statuses whose details add nothing for people. */
const SAYING_ENOUGH: readonly number[] = [408, 413, 429, 503, 507];
