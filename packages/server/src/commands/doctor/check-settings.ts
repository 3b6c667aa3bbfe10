import { IMAGES_RULES } from "@outrigger/core/images";
import { sizeText } from "../../cli/amounts.ts";
import { forgedHostRisk, type ServerSettings } from "../../config/settings.ts";
import { type Finding, ok, warning } from "./finding.ts";

const TIME_OUTS = "time-outs";
/** The default idle timeout of nginx, HAProxy and cloud load balancers. */
const PROXY_IDLE_MS = 60_000;
/** A line of 512 kbit/s. */
const SLOW_LINE_BYTES_PER_SECOND = 64 * 1024;
const SIZES = "sizes";
const ADDRESSES = "addresses";

/** Whether the server's timeouts fit its clients and proxies. */
export function checkTimeOuts({
  http,
  images = {},
  trustProxy,
}: Pick<ServerSettings, "http" | "images" | "trustProxy">): Finding[] {
  const { keepAliveMs, idleMs, requestTimeoutMs } = http;
  const {
    uploadIdleMs = IMAGES_RULES.uploadIdleMs.preset,
    maxUploadBytes = IMAGES_RULES.maxUploadBytes.preset,
  } = images;
  const findings: Finding[] = [];
  if (trustProxy !== false && keepAliveMs <= PROXY_IDLE_MS) {
    const detail = `idle connections end after ${keepAliveMs} ms, but most proxies reuse them for up to ${PROXY_IDLE_MS} ms and then fail`;
    findings.push(
      warning(TIME_OUTS, detail, "Set http.keepAliveMs to 75000, or above the idle timeout of your proxy"),
    );
  }
  if (idleMs <= uploadIdleMs) {
    const detail = `connections are closed after ${idleMs} ms, before an upload without progress receives 408 after ${uploadIdleMs} ms`;
    findings.push(warning(TIME_OUTS, detail, "Set http.idleMs above images.uploadIdleMs"));
  }
  const bytesPerSecond = maxUploadBytes / (requestTimeoutMs / 1000);
  if (bytesPerSecond > SLOW_LINE_BYTES_PER_SECOND) {
    const detail = `the largest upload must arrive within ${requestTimeoutMs} ms, which needs ${sizeText(Math.round(bytesPerSecond))}/s`;
    findings.push(warning(TIME_OUTS, detail, "Raise http.requestTimeoutMs, or keep its default"));
  }
  if (findings.length > 0) return findings;
  const seconds = [keepAliveMs, idleMs, requestTimeoutMs].map((ms) => Math.round(ms / 1000));
  return [
    ok(
      TIME_OUTS,
      `${seconds[0]} s between requests, ${seconds[1]} s without traffic, ${seconds[2]} s for a request`,
    ),
  ];
}

/** Whether the server itself decides the host of the addresses in replies. */
export function checkAddresses(
  settings: Pick<ServerSettings, "trustProxy" | "publicUrl" | "images">,
): Finding {
  const forgery = forgedHostRisk(settings);
  if (forgery !== null) return warning(ADDRESSES, forgery.risk, forgery.remedy);
  if (settings.publicUrl !== undefined) return ok(ADDRESSES, `begin with ${settings.publicUrl}`);
  if (settings.images?.allowedHosts !== undefined) return ok(ADDRESSES, "only allowed hosts");
  return ok(ADDRESSES, "the Host of each request; no proxy is trusted");
}

/** Whether any client can request any size without a cache in front. */
export function checkSizes({
  images = {},
  trustProxy,
}: Pick<ServerSettings, "images" | "trustProxy">): Finding {
  const { sizes = IMAGES_RULES.sizes.preset } = images;
  if (sizes === "signed") return ok(SIZES, "only presets and signed addresses");
  if (sizes !== "any") return ok(SIZES, "the next larger step");
  if (trustProxy !== false) return ok(SIZES, "any; outrigger doctor <url> looks for a cache in front");
  return warning(
    SIZES,
    "any client can request any size, and no trusted proxy or cache is in front",
    'Set images.sizes to "steps" or "signed", or put a cache in front and set trustProxy',
  );
}
