import { systemCode } from "@outrigger/core/values";
import type { SmtpIdentity } from "../prober-options.ts";
import { type Asked, type Refusal, readRecipientRefusal, readSessionRefusal } from "./read-refusal.ts";
import { openSmtpConnection, type SmtpConnection, type SmtpConnectionOptions } from "./smtp-connection.ts";
import { DialogueError, type SmtpReply } from "./smtp-reply.ts";

/** The question to a mail host. */
export interface Question {
  local: string;
  domain: string;
  /** A nonexistent name, asked about if `local` is accepted. `null`: it is known whether the domain accepts all. */
  madeUpLocal: string | null;
  /** Returns a mailbox that should exist, asked about if `local` is denied. Must not reject. */
  control(): Promise<string>;
  /** Whether a denied `local` is asked about once more after the control was accepted. */
  repeats: boolean;
}

export interface ConverseOptions extends SmtpConnectionOptions {
  identity: SmtpIdentity;
  /** Called once the host has sent a reply. */
  onSpoken(): void;
  /** Receives a promise that resolves when a connection is closed. */
  onClosing(gone: Promise<void>): void;
}

/** How a conversation failed. `unreachable`: there was no connection at all. */
export type Failure = DialogueError["kind"] | "unreachable";

export type RecipientAnswer = "accepted" | Refusal;

/** The outcome of a conversation. */
export type Outcome =
  | {
      kind: "answered";
      target: RecipientAnswer;
      madeUp: RecipientAnswer | Failure | null;
      /** `null`: not asked, because the host did not deny the mailbox. */
      control: RecipientAnswer | Failure | null;
      /** The second answer about a denied mailbox; `null`: not asked. */
      repeated: RecipientAnswer | Failure | null;
    }
  /** The host refused this sender before a recipient was named. */
  | { kind: "refused"; refusal: Refusal }
  /** The host does not support non-ASCII addresses. */
  | { kind: "ascii_only" }
  /** `hasSpoken`: the host sent an SMTP greeting. `code`: Node's error code of a failed connection. */
  | { kind: "failed"; failure: Failure; hasSpoken: boolean; code?: string };

/** Of both attempts. */
interface Progress {
  hasSpoken: boolean;
}

/** Asks a host about a mailbox without sending mail. No behaviour of the host makes it reject. */
export async function converse(question: Question, options: ConverseOptions): Promise<Outcome> {
  const progress = { hasSpoken: false };
  // If TLS fails, try again without it on a new connection: the first one is unusable.
  const outcome =
    (await converseOnce(question, options, true, progress)) ??
    (await converseOnce(question, options, false, progress));
  if (outcome === null) throw new Error("Unreachable: without STARTTLS there is no handshake");
  return outcome;
}

/** @returns `null` if the TLS handshake failed. */
async function converseOnce(
  question: Question,
  options: ConverseOptions,
  mayUseTls: boolean,
  progress: Progress,
): Promise<Outcome | null> {
  let connection: SmtpConnection;
  try {
    connection = await openSmtpConnection(options);
  } catch (error) {
    return readConnectError(error, progress);
  }
  let outcome: Outcome | null = null;
  try {
    outcome = await talk(connection, question, options, mayUseTls, progress);
    return outcome;
  } catch (error) {
    if (!(error instanceof DialogueError)) throw error;
    return { kind: "failed", failure: error.kind, hasSpoken: progress.hasSpoken };
  } finally {
    if (outcome === null) connection.destroy();
    // If the connection has failed already, `quit` only waits for its end.
    options.onClosing(connection.quit());
  }
}

function readConnectError(error: unknown, { hasSpoken }: Progress): Outcome {
  const kind = error instanceof DialogueError ? error.kind : null;
  if (kind === "aborted") return { kind: "failed", failure: "aborted", hasSpoken };
  // Any socket error means the same here: the host is unreachable.
  const code = kind === "timeout" ? "ETIMEDOUT" : systemCode(error);
  return { kind: "failed", failure: "unreachable", hasSpoken, ...(code === undefined ? {} : { code }) };
}

async function talk(
  connection: SmtpConnection,
  question: Question,
  { identity, name, onSpoken }: ConverseOptions,
  mayUseTls: boolean,
  progress: Progress,
): Promise<Outcome | null> {
  const { local, domain, madeUpLocal } = question;
  const greeting = await connection.greeting();
  progress.hasSpoken = true;
  onSpoken();
  if (greeting.code !== 220) return refused(greeting);
  let hello = await sayHello(connection, identity);
  if (mayUseTls && offers(hello, "STARTTLS") && (await connection.command("STARTTLS")).code === 220) {
    if (!(await canUpgrade(connection, name))) return null;
    hello = await sayHello(connection, identity);
  }
  if (!isGood(hello)) return refused(hello);

  const isInternational = !/^[\0-\x7f]*$/.test(local);
  if (isInternational && !offers(hello, "SMTPUTF8")) return { kind: "ascii_only" };
  const mail = `FROM:<${identity.mailFrom}>${isInternational ? " SMTPUTF8" : ""}`;

  const sender = await connection.command("MAIL", mail);
  if (!isGood(sender)) return refused(sender);
  const asked = { local, domain, ...identity };
  const target = await askRecipient(connection, asked);
  const askAlso = async (other: string) => askAnother(connection, mail, { ...asked, local: other });
  if (target === "accepted") {
    const madeUp = madeUpLocal === null ? null : await askAlso(madeUpLocal);
    return { kind: "answered", target, madeUp, control: null, repeated: null };
  }
  const control = deniesMailbox(target) ? await askAlso(await question.control()) : null;
  const repeated = question.repeats && control === "accepted" ? await askAlso(local) : null;
  return { kind: "answered", target, madeUp: null, control, repeated };
}

/** Whether an answer says that the mailbox accepts no mail. */
export function deniesMailbox(answer: RecipientAnswer | Failure | null): boolean {
  if (typeof answer !== "object" || !answer?.isPermanent) return false;
  return ["user_unknown", "mailbox_full", "mailbox_disabled"].includes(answer.reason);
}

async function sayHello(connection: SmtpConnection, { helo }: SmtpIdentity): Promise<SmtpReply> {
  const hello = await connection.command("EHLO", helo);
  return hello.code >= 500 ? await connection.command("HELO", helo) : hello;
}

async function canUpgrade(connection: SmtpConnection, name: string): Promise<boolean> {
  try {
    await connection.upgrade(name);
    return true;
  } catch (error) {
    if (!(error instanceof DialogueError)) throw error;
    // An injected reply before the handshake, or an abort, is not a failure of TLS.
    if (error.kind === "protocol" || error.kind === "aborted") throw error;
    return false;
  }
}

async function askRecipient(connection: SmtpConnection, asked: Asked): Promise<RecipientAnswer> {
  const reply = await connection.command("RCPT", `TO:<${asked.local}@${asked.domain}>`);
  return reply.code === 250 || reply.code === 251 ? "accepted" : readRecipientRefusal(reply, asked);
}

/**
 * Asks in a separate transaction, so that the recipients do not affect each other. A failure does not affect
 * the target.
 */
async function askAnother(
  connection: SmtpConnection,
  mail: string,
  asked: Asked,
): Promise<RecipientAnswer | Failure> {
  try {
    for (const reply of [await connection.command("RSET"), await connection.command("MAIL", mail)]) {
      if (!isGood(reply)) return readSessionRefusal(reply);
    }
    return await askRecipient(connection, asked);
  } catch (error) {
    if (error instanceof DialogueError) return error.kind;
    throw error;
  }
}

function refused(reply: SmtpReply): Outcome {
  return { kind: "refused", refusal: readSessionRefusal(reply) };
}

function isGood(reply: SmtpReply): boolean {
  return reply.code === 250;
}

/** RFC 5321 §4.1.1.1: the first line is the host's name, each further line an extension. */
function offers(hello: SmtpReply, extension: string): boolean {
  return (
    isGood(hello) && hello.lines.slice(1).some((line) => line.split(" ")[0]?.toUpperCase() === extension)
  );
}
