import { parseStorageUrl, type StorageTarget } from "@outrigger/core/stores";
import { describe, expect, it } from "vitest";
import { describeTarget } from "./describe-storage.ts";

const ACCEPTED: [url: string, target: StorageTarget, description: string][] = [
  ["file:./data", { kind: "file", directory: "/srv/app/data" }, "file:/srv/app/data"],
  ["file:data", { kind: "file", directory: "/srv/app/data" }, "file:/srv/app/data"],
  ["file:../data", { kind: "file", directory: "/srv/data" }, "file:/srv/data"],
  ["file:/abs/olute", { kind: "file", directory: "/abs/olute" }, "file:/abs/olute"],
  ["file:///abs/olute", { kind: "file", directory: "/abs/olute" }, "file:/abs/olute"],
  ["FILE:/a%20b%3Fc", { kind: "file", directory: "/a b?c" }, "file:/a b?c"],
  ["file:///a%20b%3Fc", { kind: "file", directory: "/a b?c" }, "file:/a b?c"],
  ["file:./my data", { kind: "file", directory: "/srv/app/my data" }, "file:/srv/app/my data"],
  ["memory:", { kind: "memory" }, "memory:"],
  ["memory:?maxBytes=1000", { kind: "memory", maxBytes: 1000 }, "memory:"],
  ["memory:?maxBytes=1.5MiB", { kind: "memory", maxBytes: 1_572_864 }, "memory:"],
  [
    "redis://r.example?timeoutMs=2s&ttlMs=7d",
    { kind: "redis", url: "redis://r.example", timeoutMs: 2000, ttlMs: 604_800_000 },
    "redis://r.example",
  ],
  [
    "postgres://ann:p%40ss@db.example:5433/app?prefix=img&timeoutMs=500&maxConnections=4&sslmode=verify-full",
    {
      kind: "postgres",
      url: "postgres://ann:p%40ss@db.example:5433/app?sslmode=verify-full",
      prefix: "img",
      timeoutMs: 500,
      maxConnections: 4,
    },
    "postgres://db.example:5433/app?prefix=img",
  ],
  ["postgresql://db/app", { kind: "postgres", url: "postgresql://db/app" }, "postgres://db/app"],
  ["redis://localhost", { kind: "redis", url: "redis://localhost" }, "redis://localhost"],
  ["redis://[::1]:6380/2", { kind: "redis", url: "redis://[::1]:6380/2" }, "redis://[::1]:6380/2"],
  [
    "rediss://user:p%40ss@r.example:6380?prefix=img:1&timeoutMs=500",
    { kind: "redis", url: "rediss://user:p%40ss@r.example:6380", prefix: "img:1", timeoutMs: 500 },
    "rediss://r.example:6380?prefix=img:1",
  ],
  [
    "redis://:hush@a:7000,redis://b:7001?prefix=x",
    { kind: "redis", url: ["redis://:hush@a:7000", "redis://b:7001"], prefix: "x" },
    "redis://a:7000,redis://b:7001?prefix=x",
  ],
  ["redis://a?ttlMs=86400000", { kind: "redis", url: "redis://a", ttlMs: 86_400_000 }, "redis://a"],
  ["redis://a:7000?cluster=true", { kind: "redis", url: ["redis://a:7000"] }, "redis://a:7000"],
  ["redis://a?cluster=false", { kind: "redis", url: "redis://a" }, "redis://a"],
  ["redis://u:a,b@host", { kind: "redis", url: "redis://u:a,b@host" }, "redis://host"],
  [
    "redis+sentinel://a:26380,b,[::1]:26379/main",
    { kind: "redis", url: "redis+sentinel://a:26380,b,[::1]:26379/main" },
    "redis+sentinel://a:26380,b,[::1]:26379/main",
  ],
  [
    "rediss+sentinel://user:p%40ss@a,b/main?prefix=x&db=2&sentinelPassword=hu%26sh&timeoutMs=900",
    {
      kind: "redis",
      url: "rediss+sentinel://user:p%40ss@a,b/main?db=2&sentinelPassword=hu%26sh",
      prefix: "x",
      timeoutMs: 900,
    },
    "rediss+sentinel://a,b/main?db=2&prefix=x",
  ],
  ["s3://bucket", { kind: "s3", bucket: "bucket" }, "s3://bucket/"],
  ["s3://bucket/", { kind: "s3", bucket: "bucket" }, "s3://bucket/"],
  [
    "s3://My.bucket/some/images?endpoint=https://s3.example.com&region=eu-central-1&forcePathStyle=true&timeoutMs=900",
    {
      kind: "s3",
      bucket: "My.bucket",
      prefix: "some/images/",
      endpoint: "https://s3.example.com",
      region: "eu-central-1",
      forcePathStyle: true,
      timeoutMs: 900,
    },
    "s3://My.bucket/some/images/?endpoint=https://s3.example.com",
  ],
];

const REDIS = /^must be redis:\/\/\[user:password@\]host/;
const POSTGRES = /^must be postgres:\/\/\[user:password@\]host/;
const REFUSED: [url: string, message: RegExp][] = [
  ["", /^must be a URL that begins with file:, memory:, postgres:/],
  ["./data", /a directory is file:\.\/data/],
  ["http://hush.example", /^must be a URL that begins with file:/],
  ["file:", /^must be file:path/],
  ["file://hush/data", /^must be file:path/],
  ["file:./data?hush", /^must be file:path/],
  ["file:./data#hush", /^must be file:path/],
  ["file:./%hush", /^must be file:path/],
  ["file:./%00", /^must be file:path/],
  ["file:///a%2Fhush", /^must be file:path/],
  ["memory:hush", /^must be memory:/],
  ["memory://hush", /^must be memory:/],
  ["memory:?maxBytes=0", /^must have as maxBytes a whole number from 1, or a size such as "25MB"$/],
  ["memory:?maxBytes=1k", /^must have as maxBytes a whole number/],
  ["memory:?hush=1", /^must have no parameters except maxBytes, each at most once$/],
  ["postgres:", POSTGRES],
  ["postgres:///hush", POSTGRES],
  ["postgres://db", POSTGRES],
  ["postgres://db/", POSTGRES],
  ["postgres://db/a/hush", POSTGRES],
  ["postgres://db/a#hush", POSTGRES],
  ["postgres://:hu%sh@db/a", POSTGRES],
  ["postgres://db/a?prefix=Hush", /as prefix, of which the first is a letter$/],
  ["postgres://db/a?prefix=1hush", /as prefix, of which the first is a letter$/],
  ["postgres://db/a?maxConnections=0", /^must have as maxConnections a whole number from 1 to 1000$/],
  ["postgres://db/a?timeoutMs=hush", /^must have as timeoutMs a whole number/],
  [
    "postgres://db/a?options=hush",
    /^must have no parameters except prefix, timeoutMs, maxConnections, sslmode/,
  ],
  ["redis:", REDIS],
  ["redis://", REDIS],
  ["redis:///hush", REDIS],
  ["redis://localhost/hush", REDIS],
  ["redis://localhost#hush", REDIS],
  ["redis://:hu%sh@localhost", REDIS],
  ["redis://:hu/sh@localhost", REDIS],
  ["redis://:hu#sh@localhost", REDIS],
  ["redis://user:12?hush@localhost", /^must have no parameters except prefix, timeoutMs, cluster, ttlMs/],
  ["redis+sentinel://hush", /^must be redis\+sentinel:\/\/\[user/],
  ["redis+sentinel://hush/", /^must be redis\+sentinel:/],
  ["redis+sentinel:///hush", /^must be redis\+sentinel:/],
  ["redis+sentinel://a,,b/hush", /^must be redis\+sentinel:/],
  ["redis+sentinel://a:99999/hush", /^must be redis\+sentinel:/],
  ["redis+sentinel://:hu%sh@a/main", /^must be redis\+sentinel:/],
  ["redis+sentinel://a/main/hush", /^must be redis\+sentinel:/],
  ["redis+sentinel://a/main?db=hush", /^must have a whole number from 0 to 99999 as db$/],
  [
    "redis+sentinel://a/main?cluster=hush",
    /^must have no parameters except db, sentinelUser, sentinelPassword, prefix/,
  ],
  ["redis+unix:///hush?db=1", /by TCP, not by a Unix socket/],
  ["unix:///hush", /by TCP, not by a Unix socket/],
  ["redis://localhost?prefix=a&prefix=hush", /each at most once$/],
  ["redis://localhost?prefix={hush}", /as prefix$/],
  ["redis://localhost?prefix=", /as prefix$/],
  [
    "redis://localhost?timeoutMs=49",
    /^must have as timeoutMs a whole number from 50 to 60000, or a time such as "30s" or "7d"$/,
  ],
  ["redis://localhost?ttlMs=1", /^must have as ttlMs a whole number from 1000/],
  ["redis://localhost?cluster=hush", /^must have true or false as cluster$/],
  ["redis://a?prefix=x,redis://b", /after the last address$/],
  ["redis://a,redis://b?cluster=false", /^must be one address if cluster is false$/],
  ["redis://a/1,redis://b", /^must not name a database of a cluster/],
  ["redis://a/1?cluster=true", /^must not name a database of a cluster/],
  ["redis://a,rediss://b", /for all addresses$/],
  ["redis://a,redis://:hush@b", /^must have the user in the first address/],
  ["s3://", /^must be s3:\/\/bucket/],
  ["s3:bucket", /^must be s3:\/\/bucket/],
  ["s3://bucket:80", /^must be s3:\/\/bucket/],
  ["s3://bucket#hush", /^must be s3:\/\/bucket/],
  [
    "s3://AKIA:hu/sh+@bucket",
    /^must not contain credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/,
  ],
  ["s3://AKIA@bucket", /^must not contain credentials/],
  ["s3://bucket?endpoint=http://u:hush@localhost", /^must not contain credentials/],
  [
    "s3://bucket?secretAccessKey=hush",
    /^must have no parameters except endpoint, region, forcePathStyle, timeoutMs/,
  ],
  ["s3://bucket?endpoint=localhost:9000", /as endpoint$/],
  ["s3://bucket?endpoint=http://localhost?hush", /as endpoint$/],
  ["s3://bucket?region=hush!", /as region/],
  ["s3://bucket?forcePathStyle=1", /as forcePathStyle$/],
  ["s3://bucket/a//b", /after the bucket$/],
  ["s3://bucket/a/..hush", /after the bucket$/],
];

function refusalOf(url: string): string {
  try {
    parseStorageUrl(url);
    return "";
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return error.message;
  }
}

describe("parseStorageUrl", () => {
  it.each(ACCEPTED)("parses %s", (url, target, description) => {
    expect(parseStorageUrl(url, "/srv/app")).toEqual(target);
    expect(describeTarget(parseStorageUrl(url, "/srv/app"))).toBe(description);
  });

  it.each(REFUSED)("rejects %s and quotes no part of it", (url, message) => {
    expect(refusalOf(url)).toMatch(message);
    expect(refusalOf(url)).not.toContain("hush");
    expect(refusalOf(url)).not.toContain("sh@");
  });
});
