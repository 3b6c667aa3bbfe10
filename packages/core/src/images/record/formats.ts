import type { ConvertibleType, ImageFormat, OriginalType } from "../../contracts/renderer.ts";

export interface FormatFacts {
  format: ImageFormat;
  /** Content-Type of a response. */
  type: string;
  /** The original type that this format serves without conversion; `null` for output-only formats. */
  original: OriginalType | null;
  /** `inline`: browsers may display it. `attachment`: they download it. */
  disposition: "inline" | "attachment";
}

/** Every output format. The first six are those of the API document. */
export const FORMATS: Readonly<Record<ImageFormat, FormatFacts>> = {
  png: { format: "png", type: "image/png", original: "image/png", disposition: "inline" },
  jpg: { format: "jpg", type: "image/jpeg", original: "image/jpeg", disposition: "inline" },
  gif: { format: "gif", type: "image/gif", original: "image/gif", disposition: "inline" },
  svg: { format: "svg", type: "image/svg+xml", original: "image/svg+xml", disposition: "inline" },
  psd: { format: "psd", type: "image/x-photoshop", original: "image/x-photoshop", disposition: "attachment" },
  pdf: { format: "pdf", type: "application/pdf", original: "application/pdf", disposition: "attachment" },
  webp: { format: "webp", type: "image/webp", original: null, disposition: "inline" },
  avif: { format: "avif", type: "image/avif", original: null, disposition: "inline" },
};

/** The formats of the API document, in its order. `links` lists them. */
export const DOCUMENTED_FORMATS = ["png", "jpg", "gif", "svg", "psd", "pdf"] as const satisfies ImageFormat[];

/** The types that can be uploaded. */
export const ORIGINAL_TYPES: readonly OriginalType[] = Object.values(FORMATS).flatMap(
  ({ original }) => original ?? [],
);

/** All formats, those of the API document first. */
export const ALL_FORMATS = Object.keys(FORMATS) as ImageFormat[]; // The keys of a Record<ImageFormat, …>.

const BY_SUFFIX = new Map<string, ImageFormat>([...ALL_FORMATS.map((f) => [f, f] as const), ["jpeg", "jpg"]]);

/** The format of a suffix; `undefined` if there is none. `jpeg` is an alias of `jpg`. */
export function formatOfSuffix(suffix: string): ImageFormat | undefined {
  return BY_SUFFIX.get(suffix);
}

/** The suffix of an address: a format, or `auto` for the one that suits the `Accept` header of the client. */
export type AddressFormat = ImageFormat | "auto";

/** As {@link formatOfSuffix}, for an address. */
export function addressFormatOf(suffix: string): AddressFormat | undefined {
  return suffix === "auto" ? suffix : formatOfSuffix(suffix);
}

/** The format that serves an original unchanged. */
export function formatOfOriginal(type: OriginalType): ImageFormat {
  for (const facts of Object.values(FORMATS)) if (facts.original === type) return facts.format;
  throw new TypeError(`No format serves ${type}`);
}

/** Aliases of types that can be uploaded. */
export const TYPE_ALIASES: ReadonlyMap<string, OriginalType> = new Map<string, OriginalType>([
  ["image/vnd.adobe.photoshop", "image/x-photoshop"],
  ["application/x-photoshop", "image/x-photoshop"],
  ["application/photoshop", "image/x-photoshop"],
]);

/** Types that are converted where the option `convertUploads` names them, with their aliases. */
export const CONVERTIBLE: Readonly<
  Record<"webp" | "avif" | "tiff" | "heic", readonly [ConvertibleType, ...string[]]>
> = {
  webp: ["image/webp"],
  avif: ["image/avif", "image/avif-sequence"],
  tiff: ["image/tiff", "image/tif", "image/x-tiff", "image/x-tif"],
  heic: ["image/heic", "image/heif", "image/heic-sequence", "image/heif-sequence"],
};

export type ConvertibleName = keyof typeof CONVERTIBLE;

/** The type of an upload that a media type or its alias names; `undefined` if the bytes decide, and for other types. */
export function uploadTypeOf(contentType: string): OriginalType | ConvertibleType | undefined {
  const declared = declaredOriginalType(contentType);
  if (declared !== undefined) return declared === "any" ? undefined : declared;
  return Object.values(CONVERTIBLE).find((names) => names.includes(contentType))?.[0];
}

/** Other names of these types, and types for any bytes. They say too little: the bytes decide. */
export const LOOSE_TYPES: readonly string[] = [
  ...["application/octet-stream", "image/jpg", "image/pjpeg", "image/jfif", "image/x-png", "image/apng"],
  ...["image/psd", "image/x-psd", "application/psd", "application/x-pdf"],
  ...[
    "image/jpe",
    "image/x-jpeg",
    "image/x-jpg",
    "image/x-gif",
    "image/svg",
    "image/svg-xml",
    "image/photoshop",
  ],
  ...["application/acrobat", "application/vnd.pdf", "text/pdf", "text/x-pdf"],
  ...["binary/octet-stream", "application/binary", "application/x-binary", "application/unknown"],
  ...["application/x-unknown", "application/force-download", "application/x-force-download"],
  ...["application/download", "application/x-download", "application/x-octet-stream", "image/unknown"],
  ...["content/unknown", "unknown/unknown", "multipart/form-data"],
  ...["image", "png", "jpg", "jpeg", "gif", "svg", "psd", "pdf"],
];
/** A wildcard that admits one of the six. */
const WILDCARD = /^(?:\*|image|application)\/\*$/;

/**
 * The original type that an uploaded part declares. `"any"` if the bytes decide: for {@link LOOSE_TYPES}, wildcards, and
 * an empty text, which is a part without a type. `undefined` for a type that is not accepted.
 */
export function declaredOriginalType(contentType: string): OriginalType | "any" | undefined {
  if (contentType === "" || WILDCARD.test(contentType) || LOOSE_TYPES.includes(contentType)) return "any";
  for (const facts of Object.values(FORMATS)) {
    if (facts.original !== null && facts.type === contentType) return facts.original;
  }
  return TYPE_ALIASES.get(contentType);
}
