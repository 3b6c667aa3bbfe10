import { requireSize, type UploadSource } from "./upload-source.ts";

/** A form with a file, whose bytes are read while they are sent. */
export interface Multipart {
  contentType: string;
  /** Length of the body in bytes. */
  length: number;
  /** Opens the body at its first byte. May be called several times. */
  open(onSent: (sentBytes: number) => void): MultipartBody;
}

export interface MultipartBody {
  stream: ReadableStream<Uint8Array>;
  /** The error of the source or the listener; `null` if neither failed. */
  failure(): { error: unknown } | null;
  /** Cancels the source if the body was not read completely. */
  close(): void;
}

export interface FormFile {
  field: string;
  fileName: string;
  type: string;
  size: number;
  source: UploadSource;
}

/** Encodes `multipart/form-data` as browsers do (algorithm of the HTML standard), with the fields first. */
export function createMultipart(fields: Readonly<Record<string, string>>, file: FormFile): Multipart {
  const boundary = `outrigger-${randomHex(16)}`;
  const encoder = new TextEncoder();
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"\r\n\r\n${value}\r\n`,
  );
  const head = encoder.encode(
    `${parts.join("")}--${boundary}\r\n` +
      `Content-Disposition: form-data; name="${escaped(file.field)}"; filename="${escaped(file.fileName)}"\r\n` +
      `Content-Type: ${file.type}\r\n\r\n`,
  );
  const tail = encoder.encode(`\r\n--${boundary}--\r\n`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: head.length + file.size + tail.length,
    open: (onSent) => openBody(head, file, tail, onSent),
  };
}

/** A stream that reads a chunk only after the previous one was sent, and reports the bytes sent. */
function openBody(
  head: Uint8Array,
  { source, size }: FormFile,
  tail: Uint8Array,
  onSent: (sentBytes: number) => void,
): MultipartBody {
  let reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  let fileBytes = 0;
  let sentBytes = 0;
  let isAtEnd = false;
  let isClosed = false;
  let failed: { error: unknown } | null = null;

  async function next(): Promise<Uint8Array | null> {
    if (isAtEnd) return null;
    if (reader === null) {
      reader = source.stream().getReader();
      return head;
    }
    const { done, value } = await reader.read();
    if (isClosed) return null;
    if (!done) {
      fileBytes += value.length;
      // Bytes beyond the announced length would be parsed as the next request.
      if (fileBytes > size) requireSize(fileBytes, size);
      return value;
    }
    requireSize(fileBytes, size);
    isAtEnd = true;
    return tail;
  }

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      if (sentBytes > 0) onSent(sentBytes);
      const chunk = await next();
      if (isClosed) return;
      if (chunk === null) return controller.close();
      sentBytes += chunk.length;
      controller.enqueue(chunk);
    } catch (error) {
      failed ??= { error };
      throw error;
    }
  }

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    // Not awaited: the result of cancelling an abandoned source is irrelevant.
    reader?.cancel().catch(() => undefined);
  }

  const stream = new ReadableStream<Uint8Array>({ pull, cancel: close }, { highWaterMark: 0 });
  return { stream, failure: () => failed, close };
}

/** Escapes the characters that would end a quoted name, as browsers do. */
function escaped(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

export function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
