/** The address of a Sentinel. */
export interface SentinelHost {
  host: string;
  port: number;
}

/** The parts of a URL of Redis behind Sentinels. */
export interface SentinelUrl {
  /** Whether Sentinels and servers are reached over TLS. */
  isSecure: boolean;
  sentinels: [SentinelHost, ...SentinelHost[]];
  /** Name of the master in `sentinel monitor`. */
  name: string;
  /** User of the Redis servers. */
  username?: string;
  password?: string;
  database: number;
  sentinelUser?: string;
  sentinelPassword?: string;
}

const FORM =
  "must be redis+sentinel://[user:password@]host[:port][,host[:port]…]/name[?db=…&sentinelUser=…&sentinelPassword=…] or " +
  "rediss+sentinel://…, with special characters in users and passwords percent-encoded";
const URL_PARTS = /^(rediss?)\+sentinel:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([^/?#]+)(?:\?([^#]*))?$/i;
const HOST = /^(\[[0-9a-f:.]+\]|[^:[\]\s]+)(?::(\d{1,5}))?$/i;
const PARAMETERS = ["db", "sentinelUser", "sentinelPassword"];
const SENTINEL_PORT = 26_379;

/** Whether a text has the scheme of a Sentinel URL. The rest may be invalid. */
export function isSentinelUrl(text: string): boolean {
  return /^rediss?\+sentinel:/i.test(text);
}

/**
 * Parses `redis+sentinel://…` or `rediss+sentinel://…`.
 * @throws TypeError whose message is a clause that begins with `must`. It quotes no part of the URL, which
 * may contain passwords.
 */
export function parseSentinelUrl(text: string): SentinelUrl {
  const [, scheme = "", login = "", hosts = "", name = "", query = ""] = URL_PARTS.exec(text) ?? [];
  const [first, ...others] = hosts.split(",").map(readHost);
  if (first === undefined || name === "") throw new TypeError(FORM);
  const parameters = new URLSearchParams(query);
  for (const key of parameters.keys()) {
    if (!PARAMETERS.includes(key) || parameters.getAll(key).length > 1) {
      throw new TypeError(`must have no parameters except ${PARAMETERS.join(", ")}, each at most once`);
    }
  }
  const database = parameters.get("db") ?? "0";
  if (!/^\d{1,5}$/.test(database)) throw new TypeError("must have a whole number from 0 to 99999 as db");
  const colon = login.indexOf(":");
  const [username, password] = colon === -1 ? [login, ""] : [login.slice(0, colon), login.slice(colon + 1)];
  return {
    isSecure: scheme.toLowerCase() === "rediss",
    sentinels: [first, ...others],
    name: decode(name),
    ...optional("username", decode(username)),
    ...optional("password", decode(password)),
    ...optional("sentinelUser", parameters.get("sentinelUser")),
    ...optional("sentinelPassword", parameters.get("sentinelPassword")),
    database: Number(database),
  };
}

function readHost(text: string): SentinelHost {
  const [, host, port = String(SENTINEL_PORT)] = HOST.exec(text) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) throw new TypeError(FORM);
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

function optional<Name extends string>(name: Name, value: string | null): { [key in Name]?: string } {
  return value === null || value === "" ? {} : ({ [name]: value } as { [key in Name]: string }); // Its one key is `name`.
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new TypeError(FORM, { cause });
  }
}
