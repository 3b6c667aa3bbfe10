export interface Part {
  name: string;
  value: Buffer | string;
  /** Makes the part a file. */
  fileName?: string;
  type?: string;
}

const BOUNDARY = "----outrigger-openapi-test";

/** A serialized multipart/form-data body. */
export function multipart(parts: readonly Part[]): { type: string; body: Buffer } {
  const chunks = parts.flatMap(({ name, value, fileName, type }) => [
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"`,
    fileName === undefined ? "" : `; filename="${fileName}"`,
    type === undefined ? "" : `\r\nContent-Type: ${type}`,
    "\r\n\r\n",
    value,
    "\r\n",
  ]);
  const body = Buffer.concat([...chunks, `--${BOUNDARY}--\r\n`].map((each) => Buffer.from(each)));
  return { type: `multipart/form-data; boundary=${BOUNDARY}`, body };
}
