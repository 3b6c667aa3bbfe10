import { type TextKey, t } from "./texts.ts";

const TEXTS: ReadonlyMap<number, TextKey> = new Map([
  [401, "refused.login"],
  [403, "refused.forbidden"],
  [408, "refused.slow"],
  [413, "refused.large"],
  [415, "refused.unreadable"],
  [429, "refused.limit"],
  [503, "refused.busy"],
  [507, "refused.full"],
]);

/** Why an upload was refused, by the status of the reply. */
export function uploadRefusal(status: number): string {
  return t(TEXTS.get(status) ?? (status >= 500 ? "refused.failed" : "refused.other"));
}

/** The server's own reason as a sentence. It calls the file by the name of its field. */
export function quoted(detail: string): string {
  return t("refused.quote", { reason: detail.replace(/^imagedata\b/, "The file").replace(/\.$/, "") });
}
