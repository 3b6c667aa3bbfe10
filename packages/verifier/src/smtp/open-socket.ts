import { connect as connectDirectly, isIP } from "node:net";
import type { Duplex } from "node:stream";
import type { ConnectTarget } from "../prober-options.ts";
import { DialogueError } from "./smtp-reply.ts";

export interface SocketOptions {
  /** An IP address, which has been checked. Names are never looked up here. */
  address: string;
  /** The host's name. */
  name: string;
  port: number;
  connectMs: number;
  signal: AbortSignal;
  /** `undefined`: a direct connection. */
  connect?: ((target: ConnectTarget) => Duplex | Promise<Duplex>) | undefined;
}

/**
 * Opens a stream to a host and resolves when it is connected. Rejects with the stream's error, or with a
 * {@link DialogueError} for a time-out or an abort; then the stream is destroyed, even one that `connect` returns
 * later.
 */
export async function openSocket(options: SocketOptions): Promise<Duplex> {
  const { address, port, name, connectMs, signal, connect = direct } = options;
  if (isIP(address) === 0) throw new TypeError("address must be an IP address, not a host name.");
  const controller = new AbortController();
  const end = (kind: DialogueError["kind"], message: string) =>
    controller.abort(new DialogueError(kind, message));
  const timer = setTimeout(() => end("timeout", "Connecting took too long"), connectMs);
  const stop = () => end("aborted", "The probe was aborted");
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  try {
    const target = { address, port, hostName: name, signal: controller.signal };
    return await connected(async () => await connect(target), controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

function direct({ address, port }: ConnectTarget): Duplex {
  return connectDirectly({ host: address, port });
}

/** The stream of `open` once it is connected. */
async function connected(open: () => Promise<Duplex>, signal: AbortSignal): Promise<Duplex> {
  signal.throwIfAborted();
  return await new Promise<Duplex>((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    open()
      .then((stream) => {
        if (!isStream(stream)) throw new TypeError("connect must return a duplex stream.");
        // Stays for the life of the stream: an error without a listener would end the process.
        stream.on("error", reject);
        stream.once("close", () => reject(new DialogueError("closed", "The connection was closed")));
        if (signal.aborted || stream.destroyed) {
          stream.destroy();
          reject(new DialogueError("closed", "The connection was closed"));
        } else if ("connecting" in stream && stream.connecting === true) {
          stream.once("connect", () => resolve(stream));
          signal.addEventListener("abort", () => stream.destroy(), { once: true });
        } else {
          resolve(stream);
        }
      })
      .catch(reject);
  });
}

function isStream(value: unknown): value is Duplex {
  return (
    typeof value === "object" &&
    value !== null &&
    ["on", "write", "end", "destroy"].every((name) => typeof Reflect.get(value, name) === "function")
  );
}
