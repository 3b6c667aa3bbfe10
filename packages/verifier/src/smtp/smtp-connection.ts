import { isIP, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { openSocket, type SocketOptions } from "./open-socket.ts";
import { commandLine, type SmtpVerb } from "./smtp-command.ts";
import { createReplyParser, DialogueError, type SmtpReply } from "./smtp-reply.ts";

/** One connection to a mail server. Every failure rejects with a {@link DialogueError}. */
export interface SmtpConnection {
  /** The server's first reply. */
  greeting(): Promise<SmtpReply>;
  command(verb: SmtpVerb, argument?: string): Promise<SmtpReply>;
  /** Switches to TLS after the reply to STARTTLS. */
  upgrade(serverName: string): Promise<void>;
  /** Sends QUIT and resolves when the connection is closed, after 2 s at most. Never rejects. */
  quit(): Promise<void>;
  /** Closes the connection at once. */
  destroy(): void;
}

export interface SmtpConnectionOptions extends SocketOptions {
  replyMs: number;
}

const GOODBYE_MS = 2000;
/** Number of unsolicited replies before the connection is closed. */
const MAX_UNASKED = 4;

interface Waiting {
  resolve(reply: SmtpReply): void;
  reject(error: DialogueError): void;
}

/**
 * Opens a connection. Rejects with the socket's error, or with a {@link DialogueError} for a time-out or an
 * abort.
 */
export async function openSmtpConnection(options: SmtpConnectionOptions): Promise<SmtpConnection> {
  const { replyMs, signal } = options;
  const plain = await openSocket(options);
  if (plain instanceof Socket) plain.setNoDelay(true);
  let socket: Duplex = plain;
  let parser = createReplyParser();
  let failure: DialogueError | null = null;
  let waiting: Waiting | null = null;
  const unread: SmtpReply[] = [];
  const gone = new Promise<void>((resolve) => {
    if (plain.closed) resolve();
    else plain.once("close", () => resolve());
  });

  function fail(error: DialogueError): void {
    failure ??= error;
    waiting?.reject(failure);
    waiting = null;
    socket.destroy();
    plain.destroy();
  }

  function take(chunk: Buffer): void {
    try {
      for (const reply of parser.push(chunk)) deliver(reply);
    } catch (error) {
      // The parser only throws this class.
      fail(error as DialogueError);
    }
  }

  function deliver(reply: SmtpReply): void {
    if (waiting !== null) {
      waiting.resolve(reply);
      waiting = null;
    } else if (unread.push(reply) > MAX_UNASKED) {
      fail(new DialogueError("protocol", "The server sent too many unsolicited replies"));
    }
  }

  function listen(): void {
    socket.on("data", take);
    socket.on("error", (error) => fail(new DialogueError("closed", error.message)));
    // A stream other than a socket may stay open for writing after its end.
    for (const event of ["end", "close"]) socket.on(event, () => fail(hungUp()));
  }

  function nextReply(): Promise<SmtpReply> {
    const reply = unread.shift();
    if (reply !== undefined) return Promise.resolve(reply);
    if (failure !== null) return Promise.reject(failure);
    return new Promise((resolve, reject) => {
      // The time limit covers the whole reply, even if it arrives octet by octet.
      const timer = setTimeout(
        () => fail(new DialogueError("timeout", "The server did not reply in time")),
        replyMs,
      );
      waiting = {
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

  const stop = () => fail(new DialogueError("aborted", "The probe was aborted"));
  signal.addEventListener("abort", stop);
  void gone.then(() => signal.removeEventListener("abort", stop));
  if (signal.aborted) stop();
  listen();
  if (plain.destroyed) fail(hungUp());

  return {
    greeting: nextReply,
    async command(verb, argument) {
      const line = commandLine(verb, argument);
      const early = unread[0];
      // An early reply does not answer the command. Only a 421 is valid at any time: the server is closing.
      if (early !== undefined && early.code !== 421) throw earlyTalker();
      if (early === undefined && parser.isAmid()) throw earlyTalker();
      if (early === undefined && failure === null) socket.write(line);
      return await nextReply();
    },
    async upgrade(serverName) {
      // Data received before the handshake was not encrypted and must not count as encrypted (STARTTLS
      // injection).
      if (unread.length > 0 || parser.isAmid()) throw earlyTalker();
      if (failure !== null) throw failure;
      plain.removeAllListeners("data");
      parser = createReplyParser();
      // Any certificate is accepted: nothing secret is sent, and certificates of mail servers rarely match
      // their names (RFC 7435).
      const secure = connectTls({
        socket: plain,
        rejectUnauthorized: false,
        ...(isIP(serverName) === 0 ? { servername: serverName } : {}),
      });
      socket = secure;
      listen();
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(
          () => fail(new DialogueError("timeout", "The TLS handshake took too long")),
          replyMs,
        );
        const settle = (error?: DialogueError) => {
          clearTimeout(timer);
          waiting = null;
          if (error === undefined) resolve();
          else reject(error);
        };
        waiting = { resolve: () => undefined, reject: settle };
        secure.once("secureConnect", () => settle());
      });
    },
    async quit() {
      if (failure === null) {
        const timer = setTimeout(
          () => fail(new DialogueError("timeout", "The server did not close the connection after QUIT")),
          GOODBYE_MS,
        );
        socket.write(commandLine("QUIT"));
        socket.end();
        socket.resume();
        await gone;
        clearTimeout(timer);
      }
      fail(new DialogueError("closed", "The prober closed the connection"));
      await gone;
    },
    destroy: () => fail(new DialogueError("closed", "The prober closed the connection")),
  };
}

function hungUp(): DialogueError {
  return new DialogueError("closed", "The server closed the connection");
}

function earlyTalker(): DialogueError {
  return new DialogueError("protocol", "The server replied before the command was sent");
}
