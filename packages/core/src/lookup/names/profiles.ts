const PROFILE =
  /^(?:https?:\/\/)?(?:[a-z0-9-]+\.)*(?:linkedin\.com\/(?:in|pub)|xing\.com\/(?:profile|people))\/[^\s/]/i;
const HANDLE =
  /^\s*(?:https?:\/\/)?(?:www\.|mobile\.|m\.)?(?:twitter|x)\.com\/@?(?!(?:home|intent|share|search|hashtag|i|login)\b)(\w{1,30})(?:[/?#]|\s*$)/i;

/** The URL of a person's profile at LinkedIn or Xing; `null` for another text, also for the page of a company. */
export function profileUrl(text: string): string | null {
  return PROFILE.test(text) ? text.replace(/^(?!https?:)/i, "https://") : null;
}

/** The handle, with `@`, in the URL of a profile at X (Twitter); `null` for another text. */
export function profileHandle(text: string): string | null {
  const handle = HANDLE.exec(text)?.[1];
  return handle === undefined ? null : `@${handle}`;
}
