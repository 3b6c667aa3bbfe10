import { time } from "../../option-rules.ts";
import { parsedUrl } from "../../parsed-url.ts";
import type { S3Target } from "./storage-target.ts";
import { readFlag, readParameters, readWhole } from "./url-parameters.ts";

const FORM = "must be s3://bucket[/prefix][?endpoint=…&region=…&forcePathStyle=true&timeoutMs=…]";
const PARAMETERS = ["endpoint", "region", "forcePathStyle", "timeoutMs"] as const;
const NO_CREDENTIALS =
  "must not contain credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or use a profile or a role";
const PREFIX = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*$/;

/** Parses `s3://…`. @throws TypeError that states the accepted form and quotes no part of the text. */
export function parseS3Url(text: string): S3Target {
  // AWS keys contain slashes and plus signs, which can make the URL invalid.
  if (/^s3:\/\/[^?]*@/i.test(text)) throw new TypeError(NO_CREDENTIALS);
  const url = parsedUrl(text);
  if (url === null || !/^[A-Za-z0-9._-]{1,255}$/.test(url.host) || url.hash !== "") throw new TypeError(FORM);
  const { endpoint, region, forcePathStyle, timeoutMs } = readParameters(url, PARAMETERS);
  if (endpoint !== undefined) checkEndpoint(endpoint);
  if (region !== undefined && !/^[A-Za-z0-9-]{1,63}$/.test(region)) {
    throw new TypeError("must have the name of a region as region, e.g. eu-central-1");
  }
  return {
    kind: "s3",
    bucket: url.host,
    prefix: prefixOf(url.pathname) || undefined,
    endpoint,
    region,
    forcePathStyle: readFlag("forcePathStyle", forcePathStyle),
    timeoutMs: readWhole("timeoutMs", timeoutMs, time(50, 2 ** 31 - 1)),
  };
}

function prefixOf(pathname: string): string {
  const path = pathname.replace(/^\//, "");
  const prefix = path === "" || path.endsWith("/") ? path : `${path}/`;
  if (PREFIX.test(prefix) && prefix.length <= 150) return prefix;
  throw new TypeError("must have at most 150 letters, digits and characters of ._-/ after the bucket");
}

function checkEndpoint(text: string): void {
  const url = parsedUrl(text);
  if (url !== null && url.username + url.password !== "") throw new TypeError(NO_CREDENTIALS);
  const isWell = url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "";
  if (!isWell) throw new TypeError("must have an absolute http(s) URL without query as endpoint");
}
