import { t, textOf } from "./texts.ts";

/** Why an upload was refused, by the status of the reply. */
export function uploadRefusal(status: number): string {
  return textOf(`refused.${status}`) ?? t(status >= 500 ? "refused.failed" : "refused.other");
}

/** The server's own reason as a sentence. It calls the file by the name of its field. */
export function quoted(detail: string): string {
  return t("refused.quote", { reason: detail.replace(/^imagedata\b/, "The file").replace(/\.$/, "") });
}
