// Configuration of `outrigger serve` for compose.yaml, outrigger.service and nginx.conf.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const {
  OUTRIGGER_DATA: data = "/var/lib/outrigger",
  POSTGRES_HOST: host,
  POSTGRES_PASSWORD_FILE: passwordFile,
} = process.env;
const cacheSeconds = 300;

// While this directory has a file named after an image, nginx serves it from no cache.
const purged = join(data, "purged");
const timers = new Map();

function purge({ id }) {
  mkdirSync(purged, { recursive: true, mode: 0o700 });
  writeFileSync(join(purged, id), "");
  expire(id);
}

/** Removes the mark when every reply that was stored before it has expired. */
function expire(id) {
  clearTimeout(timers.get(id));
  const remove = () => {
    timers.delete(id);
    rmSync(join(purged, id), { force: true });
  };
  timers.set(id, setTimeout(remove, 2 * cacheSeconds * 1000).unref());
}

// Those of a process that has ended.
if (existsSync(purged)) readdirSync(purged).forEach(expire);

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
    sendfile: { header: "X-Accel-Redirect", prefix: "/outrigger-files/" },
  },
};
