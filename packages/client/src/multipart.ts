import { requireSize, type UploadSource } from "./upload-source.ts";

/** A form with a file, as bytes that are read while they are sent. */
export interface Multipart {
  contentType: string;
  /** Bytes. */
  length: number;
  /** The body from its first byte on. May be called again. */
  open(onSent: (sentBytes: number) => void): MultipartBody;
}

export interface MultipartBody {
  stream: ReadableStream<Uint8Array>;
  /** What the source failed with, or the listener; `null` where neither did. */
  failure(): { error: unknown } | null;
  /** Lets the source go, in case that nobody reads to the end. */
  close(): void;
}

export interface FormFile {
  field: string;
  fileName: string;
  type: string;
  size: number;
  source: UploadSource;
}

/** `multipart/form-data` as browsers write it (the HTML standard's algorithm): fields first. */
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

/** A stream that takes a chunk when the one before it has gone, and then tells so. */
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
      // More than was announced would be taken for the next request.
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
    // Nobody waits for it, and what an abandoned source says to it is of no use.
    reader?.cancel().catch(() => undefined);
  }

  const stream = new ReadableStream<Uint8Array>({ pull, cancel: close }, { highWaterMark: 0 });
  return { stream, failure: () => failed, close };
}

/** What would end a quoted name, as browsers write it. */
function escaped(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

export function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
