/** A complete reply of a mail server. */
export interface SmtpReply {
  /** From 200 to 599. */
  code: number;
  /**
   * Enhanced status code of RFC 3463, such as `5.1.1`; `null` if the text does not start with one of the
   * reply's class.
   */
  enhancedCode: string | null;
  /** Text of each line without the codes, decoded as Latin-1. */
  lines: string[];
}

/** The server violated SMTP, or the connection failed. */
export class DialogueError extends Error {
  readonly kind: "protocol" | "timeout" | "closed" | "aborted";

  constructor(kind: DialogueError["kind"], message: string) {
    super(message);
    this.name = "DialogueError";
    this.kind = kind;
  }
}

const MAX_LINE_BYTES = 4096;
const MAX_LINES = 100;
const MAX_REPLY_BYTES = 65_536;
const LF = 0x0a;
const REPLY_LINE = /^([2-5]\d\d)(?:([ -])(.*))?$/;
const ENHANCED_CODE = /^([245]\.\d{1,3}\.\d{1,3})(?: +|$)/;

/** Parses replies from chunks of any size. Lines may end with LF alone, as some servers send them. */
export class ReplyParser {
  #rest: Buffer = Buffer.alloc(0);
  #lines: string[] = [];
  #code = "";
  #bytes = 0;

  /** Returns the replies that these bytes complete. Throws a {@link DialogueError} for bytes that are not SMTP. */
  push(chunk: Uint8Array): SmtpReply[] {
    const replies: SmtpReply[] = [];
    let data = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    for (let end = data.indexOf(LF); end !== -1; end = data.indexOf(LF)) {
      const reply = this.#addLine(data.subarray(0, end));
      if (reply !== null) replies.push(reply);
      data = data.subarray(end + 1);
    }
    if (data.length > MAX_LINE_BYTES) throw tooLong();
    this.#rest = data;
    return replies;
  }

  /** Whether a reply is incomplete. */
  isAmid(): boolean {
    return this.#rest.length > 0 || this.#lines.length > 0;
  }

  #addLine(line: Buffer): SmtpReply | null {
    this.#bytes += line.length + 1;
    const isTooLong = line.length > MAX_LINE_BYTES || this.#bytes > MAX_REPLY_BYTES;
    if (isTooLong || this.#lines.length >= MAX_LINES) throw tooLong();
    const text = line.toString("latin1").replace(/\r$/, "");
    const match = /[\0\r]/.test(text) ? null : REPLY_LINE.exec(text);
    if (match === null)
      throw new DialogueError("protocol", "The server sent a line that is not part of a reply");
    const [, code = "", separator, words = ""] = match;
    if (this.#lines.length > 0 && code !== this.#code) {
      throw new DialogueError("protocol", "The lines of a reply have different codes");
    }
    this.#code = code;
    this.#lines.push(words);
    return separator === "-" ? null : this.#endReply();
  }

  #endReply(): SmtpReply {
    const enhanced = this.#lines.map((line) => ENHANCED_CODE.exec(line)?.[1] ?? null);
    const reply = {
      code: Number(this.#code),
      enhancedCode: enhanced.find((value) => value?.[0] === this.#code[0]) ?? null,
      lines: this.#lines.map((line) => line.replace(ENHANCED_CODE, "")),
    };
    this.#lines = [];
    this.#bytes = 0;
    return reply;
  }
}

function tooLong(): DialogueError {
  return new DialogueError(
    "protocol",
    "The reply is longer than 64 KiB, has more than 100 lines, or a line of more than 4 KiB",
  );
}
