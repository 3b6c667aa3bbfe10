import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "./listen.ts";
import { programs } from "./programs.ts";

/** A proxy of the test's own on the loopback, in a temporary directory. */
export interface RunningProxy {
  origin: string;
  /** Ends it and removes its directory. */
  close(): Promise<void>;
}

const START_MS = 100_000;

/**
 * Starts nginx with one server. Resolves when it answers.
 * @param server Content of its block.
 * @param http More lines for the block around it.
 */
export function startNginx(server: string, http = ""): Promise<RunningProxy> {
  return start(NGINX, (directory, port) =>
    nginxOf(directory, `access_log off; ${http} server { listen 127.0.0.1:${port}; ${server} }`),
  );
}

const NGINX = (directory: string) => [programs.nginx, "-p", directory, "-e", "stderr", "-c", "proxy.conf"];

function nginxOf(directory: string, http: string): string {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  );
  return `
    daemon off; master_process off; pid ${directory}/pid; error_log stderr crit;
    events {}
    http {
      ${paths.join("\n")}
      ${http}
    }`;
}

/** Starts nginx with whole servers, one of which listens with TLS on a port. Resolves when it answers. */
export function startNginxSites(
  configurationOf: (directory: string, port: number) => Promise<string>,
): Promise<RunningProxy> {
  return start(
    NGINX,
    async (directory, port) => nginxOf(directory, await configurationOf(directory, port)),
    "https",
  );
}

/** Starts lighttpd. Resolves when it answers. @param configuration More lines of its configuration. */
export function startLighttpd(configuration: string): Promise<RunningProxy> {
  return start(
    (directory) => [programs.lighttpd, "-D", "-f", join(directory, "proxy.conf")],
    (directory, port) => `
      server.document-root = "${directory}"
      server.bind = "127.0.0.1"
      server.port = ${port}
      server.errorlog = "${directory}/errors"
      ${configuration}`,
  );
}

async function start(
  commandOf: (directory: string) => string[],
  configurationOf: (directory: string, port: number) => string | Promise<string>,
  scheme = "http",
): Promise<RunningProxy> {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-proxy-"));
  const port = await freePort();
  await writeFile(join(directory, "proxy.conf"), await configurationOf(directory, port));
  const [program = "", ...args] = commandOf(directory);
  const child = spawn(program, args, { cwd: directory, stdio: ["ignore", "inherit", "inherit"] });
  const exit = once(child, "exit");
  const origin = `${scheme}://127.0.0.1:${port}`;
  const close = async () => {
    child.kill("SIGTERM");
    await exit;
    await rm(directory, { recursive: true });
  };
  const deadline = Date.now() + START_MS;
  for (;;) {
    try {
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      socket.destroy();
      return { origin, close };
    } catch (cause) {
      if (Date.now() > deadline) {
        await close();
        throw new Error(`${program} does not answer`, { cause });
      }
      // It does not listen yet.
      await delay(20);
    }
  }
}
