// Configuration of `outrigger serve` for compose.yaml, outrigger.service, and the proxies of this directory.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const {
  OUTRIGGER_DATA: data = "/var/lib/outrigger",
  POSTGRES_HOST: host,
  POSTGRES_PASSWORD_FILE: passwordFile,
  SENDFILE = "X-Accel-Redirect", // nginx and Caddy; Apache: X-Sendfile
} = process.env;
const cacheSeconds = 300;

// While this directory has a file named after an image, nginx and Apache serve it from no cache.
const purged = join(data, "purged");
const timers = new Map();

function purge({ id }) {
  const mark = join(purged, id);
  mkdirSync(purged, { recursive: true, mode: 0o700 });
  writeFileSync(mark, "");
  // By then every reply that was stored before the mark has expired.
  clearTimeout(timers.get(id));
  timers.set(
    id,
    setTimeout(
      () => {
        timers.delete(id);
        rmSync(mark, { force: true });
      },
      2 * cacheSeconds * 1000,
    ).unref(),
  );
}

function postgres() {
  const password = encodeURIComponent(readFileSync(passwordFile, "utf8").trim());
  return `postgres://outrigger:${password}@${host}/outrigger`;
}

export default {
  data,
  trustProxy: 1,
  ...(passwordFile && {
    storage: { records: postgres(), originals: `file:${data}`, renditions: `file:${data}` },
  }),
  images: {
    cacheSeconds,
    onPurge: purge,
    sendfile: { header: SENDFILE, ...(SENDFILE === "X-Accel-Redirect" && { prefix: "/outrigger-files/" }) },
  },
};
