import { expect, it } from "vitest";
import { problemsOf } from "../../test/config-problems.ts";

it.each([
  [{ port: 65_536 }, "port: must be a whole number from 0 to 65535"],
  [{ port: "3000" }, "port: must be a whole number from 0 to 65535"],
  [{ port: 80.5 }, "port: must be a whole number from 0 to 65535"],
  [{ host: "" }, "host: must be an address or a name"],
  [{ data: 7 }, "data: must be a path"],
  [
    { publicUrl: "example.com" },
    "publicUrl: must be an http(s) URL without credentials, query or fragment, such as https://example.com/img",
  ],
  [
    { publicUrl: "https://x.com/?a" },
    "publicUrl: must be an http(s) URL without credentials, query or fragment, such as https://example.com/img",
  ],
  [{ trustProxy: "10.0.0.0/99" }, "trustProxy: must be false, a number of proxies, or their addresses"],
  [{ trustProxy: -1 }, "trustProxy: must be false, a number of proxies, or their addresses"],
  [{ tls: true }, "tls: must be one of required, always, off"],
  [{ secret: "short" }, "secret: must be a text of at least 32 bytes, or a list of such texts"],
  [{ secret: [] }, "secret: must be a text of at least 32 bytes, or a list of such texts"],
  [{ secret: ["a".repeat(32), "short"] }, "secret.1: must have at least 32 bytes"],
  [
    { publicUrl: "https://me:hush@x.com" },
    "publicUrl: must be an http(s) URL without credentials, query or fragment, such as https://example.com/img",
  ],
  [{ metrics: true }, "metrics: must be false or an object of options (port, host)"],
  [{ metrics: {} }, "metrics.port: must be a whole number from 0 to 65535"],
  [{ metrics: { port: 9464, path: "/" } }, "metrics.path: unknown key"],
  [{ tracing: {} }, "tracing: must be true or false"],
  [{ renderer: { workers: 0 } }, "renderer.workers: must be a whole number from 1 to 256"],
  [{ http: { idleMs: 1 } }, "http.idleMs: must be a whole number from 1000 to 3600000"],
  [{ log: { level: "loud" } }, "log.level: must be one of fatal, error, warn, info, debug, trace, silent"],
  [{ log: { pretty: "yes" } }, "log.pretty: must be true or false"],
  [{ shutdownMs: 1 }, "shutdownMs: must be a whole number from 100 to 600000"],
  [{ prot: 80 }, "prot: unknown key, did you mean port?"],
  [null, expect.stringMatching(/^the configuration: must be an object of options \(port, /)],
  [[], expect.stringMatching(/^the configuration: must be an object of options \(port, /)],
])("checkConfig rejects an invalid server option in %j and names the key", (config, problem) => {
  expect(problemsOf(config)).toEqual([problem]);
});
