/** The only commands that are ever sent. */
const VERBS = ["EHLO", "HELO", "STARTTLS", "MAIL", "RCPT", "RSET", "QUIT"] as const;

export type SmtpVerb = (typeof VERBS)[number];

/** Limit of RFC 5321 §4.5.3.1.4, plus the addition of RFC 6531 for SMTPUTF8. */
const MAX_COMMAND_BYTES = 512 + 10;

/**
 * Returns the line of a command with its line end. Throws a `TypeError` for an unknown command or one that could be
 * read as several. Callers check their input too; this check covers a caller that forgets it.
 */
export function commandLine(verb: SmtpVerb, argument = ""): Buffer {
  const text = argument === "" ? verb : `${verb} ${argument}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are forbidden here.
  if (!VERBS.includes(verb) || /[\0-\x1f\x7f]/.test(text)) {
    throw new TypeError("An SMTP command must be a known verb without control characters.");
  }
  const line = Buffer.from(`${text}\r\n`, "utf8");
  if (line.length > MAX_COMMAND_BYTES)
    throw new TypeError(`An SMTP command must have at most ${MAX_COMMAND_BYTES} bytes.`);
  return line;
}

/** Throws a `TypeError` unless `<local@domain>` is one path. */
export function checkMailbox(local: string, domain: string): void {
  if (local === "" || Buffer.byteLength(local) > 64 || /[\0-\x20\x7f<>@]/.test(local)) {
    throw new TypeError("local must be 1 to 64 octets without blanks, control characters, `<`, `>` and `@`.");
  }
  if (
    !/^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/.test(
      domain,
    )
  ) {
    throw new TypeError("domain must be lower-case A-labels.");
  }
}
