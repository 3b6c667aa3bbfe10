import { t } from "../../src/texts.ts";

/** Whether the browser can hand a link to other programs. It cannot on plain http. */
export function canShare(): boolean {
  return "share" in navigator;
}

/** Opens the browser's share sheet. @returns a message for the reader; `null` if there is nothing to say. */
export async function shareLink(name: string, url: string): Promise<string | null> {
  try {
    await navigator.share({ title: name, url });
    return null;
  } catch (error) {
    // The reader closed the sheet.
    if (error instanceof DOMException && error.name === "AbortError") return null;
    return t("share.failed");
  }
}
