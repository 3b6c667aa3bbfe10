import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { commandLine, type SmtpVerb } from "./smtp-command.ts";
import { createReplyParser, DialogueError, type SmtpReply } from "./smtp-reply.ts";

/** One connection to a mail server. Whatever fails rejects with a {@link DialogueError}. */
export interface SmtpConnection {
  /** The server's first reply. */
  greeting(): Promise<SmtpReply>;
  command(verb: SmtpVerb, argument?: string): Promise<SmtpReply>;
  /** Goes on with TLS, after the reply to STARTTLS. */
  upgrade(serverName: string): Promise<void>;
  /** Says goodbye and does not wait for long; resolves when the connection is gone. Never rejects. */
  quit(): Promise<void>;
  /** Ends it at once. */
  destroy(): void;
}

export interface SmtpConnectionOptions {
  /** An IP address: names are not looked up here, for their addresses have been checked. */
  address: string;
  port: number;
  connectMs: number;
  replyMs: number;
  signal: AbortSignal;
}

const GOODBYE_MS = 2000;
/** Replies that come unasked before the connection is given up. */
const MAX_UNASKED = 4;

interface Waiting {
  resolve(reply: SmtpReply): void;
  reject(error: DialogueError): void;
}

/** Rejects with the socket's error where there is no connection, and a {@link DialogueError} for a time-out or an abort. */
export async function openSmtpConnection(options: SmtpConnectionOptions): Promise<SmtpConnection> {
  const { address, port, connectMs, replyMs, signal } = options;
  if (isIP(address) === 0) throw new TypeError("Only addresses are connected to.");
  const plain = connect({ host: address, port });
  let socket: Socket = plain;
  let parser = createReplyParser();
  let failure: DialogueError | null = null;
  let waiting: Waiting | null = null;
  const unread: SmtpReply[] = [];
  const gone = new Promise<void>((resolve) => plain.once("close", () => resolve()));

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
      // The parser throws nothing else.
      fail(error as DialogueError);
    }
  }

  function deliver(reply: SmtpReply): void {
    if (waiting !== null) {
      waiting.resolve(reply);
      waiting = null;
    } else if (unread.push(reply) > MAX_UNASKED) {
      fail(new DialogueError("protocol", "The server talks unasked"));
    }
  }

  function listen(): void {
    socket.on("data", take);
    socket.on("error", (error) => fail(new DialogueError("closed", error.message)));
    socket.on("close", () => fail(new DialogueError("closed", "The server has hung up")));
  }

  function nextReply(): Promise<SmtpReply> {
    const reply = unread.shift();
    if (reply !== undefined) return Promise.resolve(reply);
    if (failure !== null) return Promise.reject(failure);
    return new Promise((resolve, reject) => {
      // For the whole reply: one that comes octet by octet does not get more.
      const timer = setTimeout(
        () => fail(new DialogueError("timeout", "The server does not answer")),
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

  const stop = () => fail(new DialogueError("aborted", "Nobody waits for the answer any more"));
  signal.addEventListener("abort", stop);
  void gone.then(() => signal.removeEventListener("abort", stop));
  if (signal.aborted) stop();

  await connected(plain, connectMs, () => failure);
  plain.setNoDelay(true);
  listen();

  return {
    greeting: nextReply,
    async command(verb, argument) {
      const line = commandLine(verb, argument);
      const early = unread[0];
      // What was said before the question is no answer to it. A 421 is said whenever a server wants to go.
      if (early !== undefined && early.code !== 421) throw earlyTalker();
      if (early === undefined && parser.isAmid()) throw earlyTalker();
      if (early === undefined && failure === null) socket.write(line);
      return await nextReply();
    },
    async upgrade(serverName) {
      // What came before the handshake was not encrypted, and must not be taken for what comes after it.
      if (unread.length > 0 || parser.isAmid()) throw earlyTalker();
      if (failure !== null) throw failure;
      plain.removeAllListeners("data");
      parser = createReplyParser();
      // Nothing secret is sent, and mail servers' certificates rarely are for their names: any will do (RFC 7435).
      const secure = connectTls({
        socket: plain,
        rejectUnauthorized: false,
        ...(isIP(serverName) === 0 ? { servername: serverName } : {}),
      });
      socket = secure;
      listen();
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => fail(new DialogueError("timeout", "TLS takes too long")), replyMs);
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
        const timer = setTimeout(() => fail(new DialogueError("timeout", "No goodbye")), GOODBYE_MS);
        socket.write(commandLine("QUIT"));
        socket.end();
        socket.resume();
        await gone;
        clearTimeout(timer);
      }
      fail(new DialogueError("closed", "We have hung up"));
      await gone;
    },
    destroy: () => fail(new DialogueError("closed", "We have hung up")),
  };
}

/** Resolves when the socket is connected; else rejects, and the socket is destroyed. */
async function connected(
  socket: Socket,
  connectMs: number,
  failure: () => DialogueError | null,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      socket.destroy(new DialogueError("timeout", "No connection in time"));
    }, connectMs);
    let reason: Error | null = null;
    socket.once("connect", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.on("error", (error) => {
      reason = error;
    });
    socket.once("close", () => {
      clearTimeout(timer);
      reject(failure() ?? reason ?? new DialogueError("closed", "The connection was closed"));
    });
  });
}

function earlyTalker(): DialogueError {
  return new DialogueError("protocol", "The server talks before it is asked");
}
