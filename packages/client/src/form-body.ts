/** A form as a stream that is read only as fast as it is sent. Node alone reports what it has sent of one. */
export interface FormBody {
  contentType: string;
  /** Bytes of the body. */
  length: number;
  stream: ReadableStream<Uint8Array>;
  /** The error of the file or the listener; `null`: none. */
  failure(): { error: unknown } | null;
}

/**
 * Encodes a form whose last field is a file, or a file alone. The bytes of the file are read while they are sent.
 * @param onSent Called with the bytes sent before more are read.
 */
export async function openBody(
  body: FormData | Blob,
  onSent: (sentBytes: number) => void,
): Promise<FormBody> {
  const encoded = new Response(body);
  const reader = encoded.body?.getReader();
  let sentBytes = 0;
  let failed: { error: unknown } | null = null;
  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      if (sentBytes > 0) onSent(sentBytes);
      const { done = true, value } = (await reader?.read()) ?? {};
      if (done || value === undefined) return controller.close();
      sentBytes += value.length;
      controller.enqueue(value);
    } catch (error) {
      failed ??= { error };
      throw error;
    }
  }
  return {
    contentType: encoded.headers.get("Content-Type") ?? "",
    length: body instanceof Blob ? body.size : await lengthOf(body),
    stream: new ReadableStream({ pull, cancel: (reason) => reader?.cancel(reason) }, { highWaterMark: 0 }),
    failure: () => failed,
  };
}

/** The length of a form: that of its files, and of the form with empty files. */
async function lengthOf(form: FormData): Promise<number> {
  const outline = new FormData();
  let length = 0;
  for (const [name, value] of form) {
    if (typeof value !== "string") length += value.size;
    outline.append(name, typeof value === "string" ? value : new File([], value.name, { type: value.type }));
  }
  // Boundaries have one length.
  return length + (await new Response(outline).arrayBuffer()).byteLength;
}
