/** Decodes the escapes of HTML forms in the names of multipart parts. Multer does the same for file names. */
export function decodeFormName(name: string): string {
  return name.replace(/%0A|%0D|%22/gi, (escaped) => decodeURIComponent(escaped));
}

/**
 * Repairs a file name that the host's parser decoded as latin1, multer's default, although clients send
 * UTF-8.
 */
export function repairLatin1(name: string): string {
  if (!/[\x80-\xFF]/.test(name) || /[^\0-\xFF]/.test(name)) return name;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(name, "latin1"));
  } catch {
    // The bytes are not UTF-8, so the host's parser decoded them correctly.
    return name;
  }
}
