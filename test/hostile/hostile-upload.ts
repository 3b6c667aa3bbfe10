/** One hostile upload: the request, and the allowed replies. */
export interface HostileUpload {
  title: string;
  body: string | Buffer;
  /** `null` sends none. @default multipart/form-data with the boundary `X` */
  contentType?: string | null;
  /** Additional header lines. */
  headers?: readonly string[];
  /**
   * `body`: its real length; `chunked`: as one chunk; a string is sent verbatim; `null` sends neither. @default "body"
   */
  length?: "body" | "chunked" | string | null;
  /** The allowed statuses. 201 only if the body is legitimate, however unusual the rest is. */
  statuses: readonly number[];
  /** Whether Node itself refuses it as malformed HTTP, without a body. */
  byNode?: boolean;
}

const BOUNDARY = "X";
const DEFAULT_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** The smallest valid file: a drawing, whose text shows in a failing test which file was sent. */
export const DRAWING =
  '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="6"><path d="M0 0h9v6z"/></svg>';

/** One part. `headers` replaces its header lines. */
export function part(
  name: string,
  content: string,
  { fileName, type, headers }: { fileName?: string; type?: string; headers?: readonly string[] } = {},
): string {
  const lines = headers ?? [
    `Content-Disposition: form-data; name="${name}"${fileName === undefined ? "" : `; filename="${fileName}"`}`,
    ...(type === undefined ? [] : [`Content-Type: ${type}`]),
  ];
  return `--${BOUNDARY}\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n${content}\r\n`;
}

/** A body whose one part has these header lines, and is a drawing. */
export function headed(...headers: readonly string[]): string {
  return part("", DRAWING, { headers }) + END;
}

export const END = `--${BOUNDARY}--\r\n`;

/** The part that every valid body has. */
export function imagePart(content = DRAWING, fileName = "a.svg", type = "image/svg+xml"): string {
  return part("imagedata", content, { fileName, type });
}

/** A text field. */
export function field(name: string, value = "x"): string {
  return part(name, value);
}

/** A request head and body; text is encoded as latin1. */
export function requestOf(upload: HostileUpload, path: string): Buffer {
  const body = typeof upload.body === "string" ? Buffer.from(upload.body, "latin1") : upload.body;
  const { length = "body", contentType = DEFAULT_TYPE } = upload;
  const more = upload.headers ?? [];
  const lines = [`POST ${path} HTTP/1.1`, "Host: localhost", ...more];
  if (!more.some((line) => line.startsWith("User-Agent"))) lines.push("User-Agent: Hostile/1.0");
  if (contentType !== null) lines.push(`Content-Type: ${contentType}`);
  if (length === "body") lines.push(`Content-Length: ${body.length}`);
  else if (length === "chunked") lines.push("Transfer-Encoding: chunked");
  else if (length !== null) lines.push(length);
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  if (length !== "chunked") return Buffer.concat([head, body]);
  return Buffer.concat([
    head,
    Buffer.from(`${body.length.toString(16)}\r\n`),
    body,
    Buffer.from("\r\n0\r\n\r\n"),
  ]);
}

/** A valid body. */
export const VALID = imagePart() + END;

/** Not a multipart body with exactly one file. */
export const BAD = [400] as const;
/** A body, or a file, of an unsupported kind. */
export const UNTAKEN = [415] as const;
/** Unusual, but with a file: both acceptance and refusal are allowed. */
export const EITHER = [201, 400] as const;

/** An upload as a line of a table: what is wrong with it, its body, and what its head has besides. */
type UploadRow = readonly [
  title: string,
  body: string | Buffer,
  head?: Omit<HostileUpload, "title" | "body" | "statuses">,
];

/** Rows that share their allowed statuses. */
export function cases(statuses: readonly number[], list: readonly UploadRow[]): HostileUpload[] {
  return list.map(([title, body, head]) => ({ title, body, ...head, statuses }));
}
