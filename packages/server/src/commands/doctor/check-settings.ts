import { IMAGES_RULES } from "@outrigger/core/images";
import type { ServerSettings } from "../../config/settings.ts";
import { type Finding, ok, warning } from "./finding.ts";

const TIME_OUTS = "time-outs";
/** What nginx, HAProxy and the load balancers of clouds take, unless told otherwise. */
const PROXY_IDLE_MS = 60_000;
/** A line of 512 kbit/s. */
const SLOW_LINE_BYTES_PER_SECOND = 64 * 1024;
const SIZES = "sizes";

/** Whether the server's time-outs go together with what clients and proxies take their time for. */
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
    const detail = `idle connections end after ${keepAliveMs} ms, most proxies keep them for ${PROXY_IDLE_MS} and then meet closing ones`;
    findings.push(
      warning(TIME_OUTS, detail, "Set http.keepAliveMs to 75000, or more than your proxy's idle time"),
    );
  }
  if (idleMs <= uploadIdleMs) {
    const detail = `connections are cut after ${idleMs} ms, before an upload without progress gets its 408 after ${uploadIdleMs}`;
    findings.push(warning(TIME_OUTS, detail, "Set http.idleMs to more than images.uploadIdleMs"));
  }
  const bytesPerSecond = maxUploadBytes / (requestTimeoutMs / 1000);
  if (bytesPerSecond > SLOW_LINE_BYTES_PER_SECOND) {
    const detail = `the largest upload must arrive in ${requestTimeoutMs} ms, which takes ${Math.round(bytesPerSecond / 1024)} KiB/s`;
    findings.push(warning(TIME_OUTS, detail, "Raise http.requestTimeoutMs, or leave it to its default"));
  }
  if (findings.length > 0) return findings;
  const seconds = [keepAliveMs, idleMs, requestTimeoutMs].map((ms) => Math.round(ms / 1000));
  return [
    ok(
      TIME_OUTS,
      `${seconds[0]} s between requests, ${seconds[1]} s of silence, ${seconds[2]} s for a request`,
    ),
  ];
}

/** Whether every client can have any size rendered, with no cache in front. */
export function checkSizes({
  images = {},
  trustProxy,
}: Pick<ServerSettings, "images" | "trustProxy">): Finding {
  const { sizes = IMAGES_RULES.sizes.preset } = images;
  if (sizes === "signed") return ok(SIZES, "presets and signed addresses alone");
  if (sizes !== "any") return ok(SIZES, "the next larger step");
  if (trustProxy !== false) return ok(SIZES, "any; outrigger doctor <url> looks for a cache in front");
  return warning(
    SIZES,
    "any size is rendered for every client, and no trusted proxy or cache is in front",
    'Set images.sizes to "steps" or "signed", or put a cache in front and set trustProxy',
  );
}
