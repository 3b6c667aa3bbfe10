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
/** Apache refuses to serve as root. In a user namespace, root has another number, and still owns its files. */
const NOT_ROOT =
  process.getuid?.() === 0 ? ["unshare", "--user", "--map-user=65534", "--map-group=65534"] : [];
const APACHE_LIBRARY = "/usr/lib/apache2/modules";
/** Modules of Apache that its configuration uses. Debian's `apache2.conf` loads those that `a2enmod` enabled. */
const APACHE_MODULES = [
  ...["mpm_event", "authz_core", "alias", "setenvif"],
  ...["headers", "proxy", "proxy_http", "ssl", "xsendfile", "cache", "cache_disk", "socache_shmcb"],
];

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

/** Starts Apache with a whole site, which listens with TLS on a port. Resolves when it answers. */
export function startApache(
  configurationOf: (directory: string, port: number) => Promise<string>,
): Promise<RunningProxy> {
  return start(
    (directory) => [...NOT_ROOT, programs.apache, "-X", "-d", directory, "-f", join(directory, "proxy.conf")],
    async (directory, port) => `
      ${APACHE_MODULES.map((name) => `LoadModule ${name}_module ${APACHE_LIBRARY}/mod_${name}.so`).join("\n")}
      Define APACHE_LOG_DIR ${directory}
      DefaultRuntimeDir ${directory}
      PidFile ${directory}/pid
      ErrorLog ${directory}/errors
      ServerName 127.0.0.1
      Listen 127.0.0.1:${port}
      ${await configurationOf(directory, port)}`,
    "https",
  );
}

/** Starts Caddy with a whole configuration, whose site listens with TLS on a port. Resolves when it answers. */
export function startCaddy(
  configurationOf: (directory: string, port: number) => Promise<string>,
): Promise<RunningProxy> {
  return start(
    (directory) => [
      ...[programs.caddy, "run", "--adapter", "caddyfile", "--config", join(directory, "proxy.conf")],
    ],
    async (directory, port) => `{
      admin off
      auto_https off
      log {
        level ERROR
      }
    }
    ${await configurationOf(directory, port)}`,
    "https",
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
