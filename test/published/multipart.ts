/** A file of an upload. */
export interface Part {
  bytes: Buffer;
  type: string;
  fileName: string;
}

const BOUNDARY = "a-boundary-that-no-sample-contains";
export const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;

/** A body of the type {@link MULTIPART} with one file. */
export function multipart({ bytes, type, fileName }: Part): Buffer {
  const disposition = `Content-Disposition: form-data; name="imagedata"; filename="${fileName}"`;
  return Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\n${disposition}\r\nContent-Type: ${type}\r\n\r\n`),
    bytes,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
}
