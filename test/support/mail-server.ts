import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";
import { createSelfSigned } from "../backends/self-signed.ts";

export interface MailServerOptions {
  /** An address of the loopback. @default "127.0.0.1" */
  host?: string;
  /** @default a free one */
  port?: number;
  /** `broken`: it offers STARTTLS, and no version of it that anybody takes. @default "none" */
  tls?: "none" | "works" | "broken";
  /** More of the server's options. */
  more?: SMTPServerOptions;
}

/**
 * A mail server of the test's own. It behaves by the local part: alice, bob, postmaster, and δοκιμή are there; grey, full,
 * disabled, policy, tarpit, drop and shutdown do as they say; others are not there. Of domains that begin with `catchall`,
 * everybody is there.
 */
export interface MailServer {
  host: string;
  port: number;
  /** Lines that were received as commands. */
  commands: string[];
  /** Most connections at a time, so far. */
  mostSessions(): number;
  /** From now on, who was greylisted before is let through. */
  endGreylisting(): void;
  close(): Promise<void>;
}

const PRESENT = new Set(["alice", "bob", "postmaster", "δοκιμή"]);

export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const { host = "127.0.0.1", tls = "none" } = options;
  const commands: string[] = [];
  const greylisted = new Set<string>();
  let isGreylistingOver = false;
  let mostSessions = 0;

  const listen = (_entry: unknown, kind: string, line: string) => {
    if (kind === "C:") commands.push(line);
  };
  const silent = () => {};
  const server = new SMTPServer({
    name: "mx.test",
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: tls === "none" ? ["AUTH", "STARTTLS"] : ["AUTH"],
    ...(tls === "broken" ? { minVersion: "TLSv1.1", maxVersion: "TLSv1.1" } : {}),
    ...(tls === "none" ? {} : await createCertificate()),
    closeTimeout: 100,
    logger: {
      ...{ level: silent, trace: silent, info: silent, warn: silent, error: silent, fatal: silent },
      debug: listen,
    },
    onConnect(_session, done) {
      mostSessions = Math.max(mostSessions, server.connections.size);
      done();
    },
    onRcptTo({ address }, session, done) {
      const at = address.lastIndexOf("@");
      const answer = answerTo(address.slice(0, at), address.slice(at + 1), session);
      if (answer === "drop") {
        for (const connection of server.connections) {
          if (connection.id === session.id) connection._socket.destroy();
        }
      } else if (answer !== "tarpit") {
        done(answer);
      }
    },
    ...options.more,
  });
  server.on("error", silent);

  function answerTo(local: string, domain: string, session: SMTPServerSession) {
    if (domain.startsWith("catchall")) return null;
    switch (local) {
      case "grey": {
        const sender = session.envelope.mailFrom === false ? "" : session.envelope.mailFrom.address;
        const triplet = [session.remoteAddress, sender, local, domain].join(" ");
        if (isGreylistingOver && greylisted.has(triplet)) return null;
        greylisted.add(triplet);
        return refusal(450, "4.2.0 Greylisted, please try again in 300 seconds");
      }
      case "full":
        return refusal(452, "4.2.2 Mailbox full");
      case "disabled":
        return refusal(550, "5.2.1 The account has been disabled");
      case "policy":
        return refusal(554, "5.7.1 Client host blocked by blocklist");
      case "shutdown":
        return refusal(421, "4.3.2 Closing");
      case "drop":
      case "tarpit":
        return local;
      default:
        return PRESENT.has(local) ? null : refusal(550, "5.1.1 No such user here");
    }
  }

  const listener = server.listen(options.port ?? 0, host);
  await once(listener, "listening");
  const bound = listener.address();
  return {
    host,
    port: typeof bound === "object" && bound !== null ? bound.port : 0,
    commands,
    mostSessions: () => mostSessions,
    endGreylisting() {
      isGreylistingOver = true;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** No client trusts it by default. */
async function createCertificate(): Promise<{ key: Buffer; cert: Buffer }> {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-mail-"));
  try {
    const { key, certificate } = await createSelfSigned(directory);
    return { key: await readFile(key), cert: await readFile(certificate) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}
