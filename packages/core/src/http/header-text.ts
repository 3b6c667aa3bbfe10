/** A header, which Node decodes as latin1, as the UTF-8 that many servers and clients send. */
export function utf8Of(header: string): string {
  const text = Buffer.from(header, "latin1").toString("utf8");
  return text.includes("\ufffd") ? header : text;
}
