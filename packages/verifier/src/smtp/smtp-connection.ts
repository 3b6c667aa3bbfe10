import { isIP, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { openSocket, type SocketOptions } from "./open-socket.ts";
import { commandLine, type SmtpVerb } from "./smtp-command.ts";
import { DialogueError, ReplyParser, type SmtpReply } from "./smtp-reply.ts";

export interface SmtpConnectionOptions extends SocketOptions {
  replyMs: number;
}

const GOODBYE_MS = 2000;
/** Number of unsolicited replies before the connection is closed. */
const MAX_UNASKED = 4;

interface ReplyWaiter {
  resolve(reply: SmtpReply): void;
  reject(error: DialogueError): void;
}

/**
 * Opens a connection. Rejects with the socket's error, or with a {@link DialogueError} for a time-out or an
 * abort.
 */
export async function openSmtpConnection(options: SmtpConnectionOptions): Promise<SmtpConnection> {
  const plain = await openSocket(options);
  if (plain instanceof Socket) plain.setNoDelay(true);
  return new SmtpConnection(plain, options);
}

/** One connection to a mail server. Every failure rejects with a {@link DialogueError}. */
export class SmtpConnection {
  readonly #plain: Duplex;
  readonly #replyMs: number;
  /** Resolves when the connection is closed. */
  readonly #gone: Promise<void>;
  #socket: Duplex;
  #parser = new ReplyParser();
  #failure: DialogueError | null = null;
  #waiter: ReplyWaiter | null = null;
  readonly #unread: SmtpReply[] = [];

  constructor(plain: Duplex, { replyMs, signal }: SmtpConnectionOptions) {
    this.#plain = plain;
    this.#replyMs = replyMs;
    this.#socket = plain;
    this.#gone = new Promise<void>((resolve) => {
      if (plain.closed) resolve();
      else plain.once("close", () => resolve());
    });
    const stop = () => this.#fail(new DialogueError("aborted", "The probe was aborted"));
    signal.addEventListener("abort", stop);
    void this.#gone.then(() => signal.removeEventListener("abort", stop));
    if (signal.aborted) stop();
    this.#listen();
    if (plain.destroyed) this.#fail(hungUp());
  }

  /** The server's first reply. */
  greeting(): Promise<SmtpReply> {
    return this.#nextReply();
  }

  async command(verb: SmtpVerb, argument?: string): Promise<SmtpReply> {
    const line = commandLine(verb, argument);
    const early = this.#unread[0];
    // An early reply does not answer the command. Only a 421 is valid at any time: the server is closing.
    if (early !== undefined && early.code !== 421) throw earlyTalker();
    if (early === undefined && this.#parser.isAmid()) throw earlyTalker();
    if (early === undefined && this.#failure === null) this.#socket.write(line);
    return await this.#nextReply();
  }

  /** Switches to TLS after the reply to STARTTLS. */
  async upgrade(serverName: string): Promise<void> {
    // Data received before the handshake was not encrypted and must not count as encrypted (STARTTLS
    // injection).
    if (this.#unread.length > 0 || this.#parser.isAmid()) throw earlyTalker();
    if (this.#failure !== null) throw this.#failure;
    this.#plain.removeAllListeners("data");
    this.#parser = new ReplyParser();
    // Any certificate is accepted: nothing secret is sent, and certificates of mail servers rarely match
    // their names (RFC 7435).
    const secure = connectTls({
      socket: this.#plain,
      rejectUnauthorized: false,
      ...(isIP(serverName) === 0 ? { servername: serverName } : {}),
    });
    this.#socket = secure;
    this.#listen();
    await new Promise<void>((resolve, reject) => {
      const timer = this.#failAfter(this.#replyMs, "The TLS handshake took too long");
      const settle = (error?: DialogueError) => {
        clearTimeout(timer);
        this.#waiter = null;
        if (error === undefined) resolve();
        else reject(error);
      };
      this.#waiter = { resolve: () => undefined, reject: settle };
      secure.once("secureConnect", () => settle());
    });
  }

  /** Sends QUIT and resolves when the connection is closed, after 2 s at most. Never rejects. */
  async quit(): Promise<void> {
    if (this.#failure === null) {
      const timer = this.#failAfter(GOODBYE_MS, "The server did not close the connection after QUIT");
      this.#socket.write(commandLine("QUIT"));
      this.#socket.end();
      this.#socket.resume();
      await this.#gone;
      clearTimeout(timer);
    }
    this.destroy();
    await this.#gone;
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.#fail(new DialogueError("closed", "The prober closed the connection"));
  }

  #fail(error: DialogueError): void {
    this.#failure ??= error;
    this.#waiter?.reject(this.#failure);
    this.#waiter = null;
    this.#socket.destroy();
    this.#plain.destroy();
  }

  #failAfter(ms: number, message: string): NodeJS.Timeout {
    return setTimeout(() => this.#fail(new DialogueError("timeout", message)), ms);
  }

  #listen(): void {
    this.#socket.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#socket.on("error", (error) => this.#fail(new DialogueError("closed", error.message)));
    // A stream other than a socket may stay open for writing after its end.
    for (const event of ["end", "close"]) this.#socket.on(event, () => this.#fail(hungUp()));
  }

  #take(chunk: Buffer): void {
    try {
      for (const reply of this.#parser.push(chunk)) this.#deliver(reply);
    } catch (error) {
      // The parser only throws this class.
      this.#fail(error as DialogueError);
    }
  }

  #deliver(reply: SmtpReply): void {
    if (this.#waiter !== null) {
      this.#waiter.resolve(reply);
      this.#waiter = null;
    } else if (this.#unread.push(reply) > MAX_UNASKED) {
      this.#fail(new DialogueError("protocol", "The server sent too many unsolicited replies"));
    }
  }

  #nextReply(): Promise<SmtpReply> {
    const reply = this.#unread.shift();
    if (reply !== undefined) return Promise.resolve(reply);
    if (this.#failure !== null) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      // The time limit covers the whole reply, even if it arrives octet by octet.
      const timer = this.#failAfter(this.#replyMs, "The server did not reply in time");
      this.#waiter = {
        resolve(reply) {
          clearTimeout(timer);
          resolve(reply);
        },
        reject(error) {
          clearTimeout(timer);
          reject(error);
        },
      };
    });
  }
}

function hungUp(): DialogueError {
  return new DialogueError("closed", "The server closed the connection");
}

function earlyTalker(): DialogueError {
  return new DialogueError("protocol", "The server replied before the command was sent");
}
