/** Characters that some file system rejects, that a terminal may interpret, or that separate paths. */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}<>:"/\\|?*]/gu;
/** Device names of Windows, with any suffix. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;
/** File systems accept 255 bytes; the rest is reserved for the suffix of the temporary file. */
const MAX_BYTES = 200;

/**
 * A safe file name: without a path, not hidden, and not parsed as an option by commands.
 * @param name The untrusted name of an image.
 * @param otherwise The name if nothing is left.
 */
export function safeFileName(name: string, otherwise: string): string {
  const last = name.split(/[/\\]/).findLast((part) => part.trim() !== "") ?? "";
  const clean = last
    .replace(UNSAFE, "_")
    .replace(/^[\s.]+|[\s.]+$/g, "")
    .replace(/^-/, "_")
    .replace(DEVICE, "_$&");
  return clean === "" ? otherwise : shortened(clean);
}

/** Cuts a name before its suffix, between characters. */
function shortened(name: string): string {
  const suffix = /\.\w{1,5}$/.exec(name)?.[0] ?? "";
  let stem = name.slice(0, name.length - suffix.length);
  while (Buffer.byteLength(stem + suffix) > MAX_BYTES) stem = [...stem].slice(0, -1).join("");
  return stem + suffix;
}
