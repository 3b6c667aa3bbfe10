import { type describeSource, requireSize, type UploadSource } from "./upload-source.ts";

type FormFile = ReturnType<typeof describeSource> & { field: string; source: UploadSource };

/**
 * Encodes `multipart/form-data` as browsers do (algorithm of the HTML standard), with the fields first. The bytes of the file are
 * read while they are sent.
 * @returns `length` of the body in bytes, and `open`: the body at its first byte; it may be called several times.
 */
export function createMultipart(fields: Readonly<Record<string, string | number>>, file: FormFile) {
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
    open: (onSent: (sentBytes: number) => void) => openBody(head, file, tail, onSent),
  };
}

/** The bytes alone, in the form of {@link createMultipart}. */
export function createPlain(source: Blob): ReturnType<typeof createMultipart> {
  const none = new Uint8Array();
  const { size, type } = source;
  return {
    contentType: type,
    length: size,
    open: (onSent) => openBody(none, { source, size }, none, onSent),
  };
}

/**
 * A stream that reads a chunk only after the previous one was sent, and reports the bytes sent.
 * @returns also `failure`: the error of the source or the listener, or `null`; and `close`, which cancels a source that was not
 * read completely.
 */
function openBody(
  head: Uint8Array,
  { source, size }: Pick<FormFile, "source" | "size">,
  tail: Uint8Array,
  onSent: (sentBytes: number) => void,
) {
  const reader = source.stream().getReader();
  let sentBytes = 0;
  let isClosed = false;
  let failed: { error: unknown } | null = null;

  async function* read(): AsyncGenerator<Uint8Array, void> {
    yield head;
    let fileBytes = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      fileBytes += value.length;
      // Bytes beyond the announced length would be parsed as the next request.
      if (fileBytes > size) requireSize(fileBytes, size);
      yield value;
    }
    if (!isClosed) requireSize(fileBytes, size);
    yield tail;
  }
  const chunks = read();

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      if (sentBytes > 0) onSent(sentBytes);
      const { done, value } = await chunks.next();
      if (isClosed) return;
      if (done) return controller.close();
      sentBytes += value.length;
      controller.enqueue(value);
    } catch (error) {
      failed ??= { error };
      throw error;
    }
  }

  function close(): void {
    isClosed = true;
    // Not awaited: the result of cancelling an abandoned source is irrelevant.
    reader.cancel().catch(() => undefined);
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
