import type { AddressFormat, ImageFormat, PicturePoint, ReadOptions } from "@outrigger/client";

/** Media types of the formats in which images are served. */
export const TYPE_OF_FORMAT: Readonly<Record<ImageFormat, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  gif: "image/gif",
  svg: "image/svg+xml",
  psd: "image/x-photoshop",
  pdf: "application/pdf",
  webp: "image/webp",
  avif: "image/avif",
};

/** The formats in which images are served. */
export const FORMATS = Object.keys(TYPE_OF_FORMAT) as ImageFormat[]; // The keys of a Record<ImageFormat, …>.

/** Values of `--as`. It also accepts `jpeg` for `jpg`. */
export const AS_FORMATS: readonly AddressFormat[] = [...FORMATS, "auto"];

/** Values of `--quality`. */
export const QUALITIES = ["low", "medium", "high", "max", "auto"] as const;

/** Values of `--fit`. */
export const FITS = ["contain", "cover", "pad"] as const;

/** Parses the value of `--at`. `null` for any other text. */
export function placeIn(text: string): NonNullable<ReadOptions["at"]> | null {
  return text === "attention" || text === "entropy" ? text : pointIn(text);
}

/** Parses `x,y`. `null` for any other text. */
export function pointIn(text: string): PicturePoint | null {
  const [, x, y] = /^([01]?(?:\.\d+)?),([01]?(?:\.\d+)?)$/.exec(text) ?? [];
  if (!x || !y) return null;
  const point = [Number(x), Number(y)] as const;
  return point.every((share) => share <= 1) ? point : null;
}

/** The format that serves an original unchanged; `null` for an unknown type. */
export function formatOfType(type: string): ImageFormat | null {
  return FORMATS.find((format) => TYPE_OF_FORMAT[format] === type) ?? null;
}

/** The format of a suffix; `null` for an unknown suffix. */
export function formatOfSuffix(suffix: string): AddressFormat | null {
  const name = suffix.toLowerCase();
  return AS_FORMATS.find((format) => format === (name === "jpeg" ? "jpg" : name)) ?? null;
}

/** What `auto` may result in. */
const NEGOTIATED = ["avif", "webp", "jpg", "png", "gif"] as const;

/** The `Accept` header for `auto`: the type of the file to write, else every type that can be stored. */
export function acceptFor(output: string | undefined): string {
  const suffix = formatOfSuffix(/\.(\w+)$/.exec(output ?? "")?.[1] ?? "");
  const named = NEGOTIATED.filter((format) => format === suffix);
  return (named.length > 0 ? named : NEGOTIATED).map((format) => TYPE_OF_FORMAT[format]).join(", ");
}

/** The format and options in the address of a picture. */
export interface Asked {
  format: AddressFormat | null;
  options: ReadOptions;
}

/** @param address Any text. A text that is not the address of a picture yields no format and no options. */
export function askedBy(address: string): Asked {
  const url = URL.canParse(address) ? new URL(address) : null;
  const [, suffix = ""] = /\.(\w+)\/?$/.exec(url?.pathname ?? "") ?? [];
  const convert = QUALITIES.find((quality) => quality === url?.searchParams.get("convert"));
  const resize = url?.searchParams.get("resize") ?? "";
  const fit = FITS.find((each) => each === url?.searchParams.get("fit"));
  const at = placeIn(url?.searchParams.get("at") ?? "");
  const background = url?.searchParams.get("background") ?? "";
  const page = url?.searchParams.get("page") ?? "";
  const preset = url?.searchParams.get("preset") ?? "";
  const s = url?.searchParams.get("s") ?? "";
  const until = url?.searchParams.get("until") ?? "";
  return {
    format: formatOfSuffix(suffix),
    options: {
      ...(convert === undefined ? {} : { convert }),
      ...(resize === "" ? {} : { resize }),
      ...(/^[1-9]\d{0,8}$/.test(page) ? { page: Number(page) } : {}),
      ...(fit === undefined ? {} : { fit }),
      ...(at === null ? {} : { at }),
      ...(background === "" ? {} : { background }),
      ...(preset === "" ? {} : { preset }),
      ...(s === "" ? {} : { s }),
      ...(/^\d{1,15}$/.test(until) ? { until: Number(until) } : {}),
    },
  };
}
