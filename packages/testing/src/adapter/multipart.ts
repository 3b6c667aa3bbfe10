export const BOUNDARY = "----OutriggerBoundary7MA4YWxkTrZu0gW";
export const MULTIPART_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** A part of a multipart body: its header lines without line ends, and its content. */
export interface Part {
  headers: (string | Buffer)[];
  content: string | Buffer;
}

export function filePart(name: string, filename: string, type: string, content: string | Buffer): Part {
  return {
    headers: [
      `Content-Disposition: form-data; name="${name}"; filename="${filename}"`,
      `Content-Type: ${type}`,
    ],
    content,
  };
}

export function fieldPart(name: string, value: string | Buffer): Part {
  return { headers: [`Content-Disposition: form-data; name="${name}"`], content: value };
}

export function multipart(parts: readonly Part[], boundary = BOUNDARY): Buffer {
  const pieces: Buffer[] = [];
  const add = (piece: string | Buffer) => pieces.push(Buffer.from(piece));
  for (const part of parts) {
    add(`--${boundary}\r\n`);
    for (const line of part.headers) {
      add(line);
      add("\r\n");
    }
    add("\r\n");
    add(part.content);
    add("\r\n");
  }
  add(`--${boundary}--\r\n`);
  return Buffer.concat(pieces);
}

/** Pseudo-random bytes, the same in every run. */
export function pseudoRandomBytes(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let state = 0x2545f491;
  for (let index = 0; index < length; index++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[index] = state & 0xff;
  }
  return bytes;
}
