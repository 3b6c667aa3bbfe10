import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findProgram } from "../src/programs.mjs";
import { required } from "./kinds.mjs";

/** @import { Mounted, ServerOptions } from "./kinds.mjs" */

/** nginx and its image filter, which distributions package apart. @returns `null` where one is not installed. */
export function findNginx() {
  const program = findProgram("nginx");
  if (program === null) return null;
  // nginx says how it was built on its error output.
  const built = execFileSync("sh", ["-c", 'exec "$0" -V 2>&1', program], { encoding: "utf8" });
  const [, modules = ""] = /--modules-path=(\S+)/.exec(built) ?? [];
  const filter = join(modules, "ngx_http_image_filter_module.so");
  return existsSync(filter) ? { program, filter } : null;
}

/**
 * @param {ServerOptions} options
 * @returns {Promise<Mounted>}
 */
export async function nginxFilter(options) {
  const nginx = findNginx();
  if (nginx === null) throw new Error("nginx or its image filter is not installed");
  const directory = await mkdtemp(join(tmpdir(), "nginx-"));
  const port = await freePort();
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  );
  await writeFile(
    join(directory, "nginx.conf"),
    `load_module ${nginx.filter}; daemon off; master_process off; pid ${directory}/pid; error_log stderr crit;
    events {}
    http {
      access_log off; ${paths.join(" ")} types { image/jpeg jpg; }
      server {
        listen 127.0.0.1:${port};
        location / {
          root ${required(options, "directory")};
          image_filter resize $arg_width -; image_filter_jpeg_quality 90; image_filter_buffer 32M;
        }
      }
    }`,
  );
  const child = spawn(nginx.program, ["-p", directory, "-e", "stderr", "-c", "nginx.conf"], {
    stdio: "inherit",
  });
  process.once("exit", () => child.kill());
  await listening(port);
  return {
    port,
    async close() {
      const ended = once(child, "exit");
      child.kill();
      await ended;
      await rm(directory, { recursive: true });
    },
  };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("Not listening on TCP");
  return address.port;
}

/** Resolves when something listens. @param {number} port */
async function listening(port) {
  for (let left = 100; left > 0; left--) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await delay(50);
  }
  throw new Error("nginx does not listen");
}
