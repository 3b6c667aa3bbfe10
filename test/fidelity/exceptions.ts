import type { Finding } from "./measure.ts";
import type { Kind } from "./samples/sample.ts";

/** Files that are refused, or that look different, on purpose or for a cause outside this repository. */
export interface Exception {
  kind: Kind;
  /** The names of the files, without their kind. */
  names: RegExp;
  cause: string;
  /** The files come with a package, which may be absent. */
  isInstalled?: boolean;
}

/** A refusal for a named reason. */
export interface NamedRefusal extends Exception {
  /** The reason that we give. */
  message: RegExp;
}

/** Files that we refuse by design, although the independent reader opens or shows them at least in part. */
export const NAMED_REFUSALS: readonly NamedRefusal[] = [
  {
    kind: "pdf",
    names: /, user password, \d+ bits$/,
    message: /protected by a password/,
    cause: "password",
  },
  {
    kind: "png",
    names: /^palette missing$/,
    message: /damaged/,
    cause: "its palette is missing",
  },
  {
    kind: "jpeg",
    names: /^(?:sampling 4,4 .*|frame (?:0xc2|0xca|with a missing table)|without quantisation|EXIF cut)$/,
    message: /damaged|arithmetically/,
    cause: "its headers or tables contradict its scans",
  },
  {
    kind: "gif",
    names: /^(?:501 frames|no frames|cut in its second frame)$/,
    message: /at most 500 are accepted|damaged/,
    cause: "too many frames, or none that is whole",
  },
];

/** A difference that once was a defect: sampled.long.test.ts bounds it. */
export const PATTERNS = /^by librsvg, patterns$/;

/** Files whose picture differs by more than 2 %, with the cause. */
export const EXCEPTIONS: readonly Exception[] = [
  ...on("png", {
    "Chromium maps the brightness of PQ to the screen": /^cICP PQ$/,
    "what a cut file lacks has no colours to agree on": /^half of its pixels$/,
  }),
  {
    kind: "png",
    names: /^skimage: data\/page\.png$/,
    cause: "libvips does not apply the profile of a grey PNG",
    isInstalled: true,
  },
  ...on("jpeg", {
    "CMYK without a profile is read as another printing condition":
      /^(?:(?:cmyk|ycck),? .*|by ImageMagick, CMYK.*|by sharp, CMYK)$/,
    "CMYK profiles: another rendering intent": /^by sharp, CMYK with a profile$/,
    "Chromium leaves out the last rows of a JPEG without its end":
      /^(?:baseline|with restarts), (?:(?:without|one byte of) its end marker|cut at (?:97|99\.5) %)$/,
    "what a cut file lacks has no colours to agree on":
      /^(?:cut in its scan|(?:baseline|with restarts), cut at (?:30|60) %)$/,
    "decoders skip damage differently": /^with restarts, a foreign marker in the pixels$/,
  }),
  ...on("gif", {
    "a frame without any palette has no colours to agree on": /^no palette$/,
    "a canvas that is too wide for Chromium": /^screen 65535 x 1$/,
    "decoders stop differently at impossible code sizes": /^(?:codes of 11 bits|code size 0)$/,
  }),
  ...on("svg", {
    "librsvg: media queries and custom properties": /^as written: a style sheet$/,
    "librsvg: texts on paths, positions and paint order":
      /^as written: (?:spans and paths of text|letters of the world|blending and paint order)$/,
    "librsvg: filters: noise, functions of colour, lights, feImage":
      /^as written: (?:filters|filter functions|an embedded picture in a filter)$/,
    "sizes that the file does not give": /^as written: no size at all$/,
  }),
  ...on("psd", {
    "CMYK without a profile is read as a printing condition": /^(?:inks without|by ImageMagick, CMYK)/,
    "psd-tools misreads Lab, and ImageMagick no ZIP": /^lab 3 x \d+ (?:zip|predicted)/,
    "psd-tools takes a spare channel for alpha":
      /^(?:(?:greyscale|cmyk) (?:8|16) with (?:a spare|alpha and a spare)|by psd-tools, RGBA ZIP)/,
  }),
  ...on("pdf", {
    "fonts that are not embedded are substituted": /^(?:by pdfkit, text|by Chromium, columns)/,
    "PDFium draws the tiles of a pattern one by one: at small sizes their seams show": PATTERNS,
  }),
];

/** Whether an entry is about this file. */
export function concerns({ kind, names }: Exception, finding: Finding): boolean {
  return finding.kind === kind && names.test(finding.name.slice(kind.length + 1));
}

/** Whether a file was refused for one of the named reasons. */
export function isNamedRefusal(finding: Finding): boolean {
  const { refusal } = finding;
  if (refusal === null) return false;
  return NAMED_REFUSALS.some((named) => concerns(named, finding) && named.message.test(refusal));
}

function on(kind: Kind, causes: Record<string, RegExp>): Exception[] {
  return Object.entries(causes).map(([cause, names]) => ({ kind, names, cause }));
}
