/** What no file system of any system takes, what a terminal may obey, and what leads out of a directory. */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}<>:"/\\|?*]/gu;
/** Devices of Windows, whatever suffix follows. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;
/** Of the 255 that file systems take, some are left for the name that a file has before it is whole. */
const MAX_BYTES = 200;

/**
 * A name that is nothing but a name of a file: it stays in its directory, is not hidden, and is no option of any command.
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

/** Cut in front of its suffix, between characters. */
function shortened(name: string): string {
  const suffix = /\.\w{1,5}$/.exec(name)?.[0] ?? "";
  let stem = name.slice(0, name.length - suffix.length);
  while (Buffer.byteLength(stem + suffix) > MAX_BYTES) stem = [...stem].slice(0, -1).join("");
  return stem + suffix;
}
