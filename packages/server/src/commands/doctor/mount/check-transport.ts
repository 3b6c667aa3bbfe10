import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { type Finding, ok, problem, warning } from "../finding.ts";
import { type Answer, describeAnswer, headerOf, isRedirect, problemDetail } from "./answer.ts";
import { HELLO_PATH, isImageService } from "./check-reach.ts";
import { explainTrouble } from "./connection-trouble.ts";
import { exchange } from "./exchange.ts";
import type { MountVisit } from "./visit.ts";

const TLS = "TLS";
const SOON_DAYS = 14;
const TWIN_SILENCE_MS = 5_000;
const IDLE = "idle connection";
const MAX_IDLE_MS = 2_000;
const BUFFERING = "request buffering";
/** Longer than the jitter of a reply, shorter than the server waits for a rejected client. */
const PAUSE_MS = 500;

/** Whether requests to a mount are protected by TLS. @param hello The reply of the mount. */
export function checkTls(base: string, hello: Answer): Finding {
  if (base.startsWith("http:")) {
    if (hello.isLoopback) return ok(TLS, "none, which is acceptable for development on this machine");
    return problem(
      TLS,
      "the service answers plain http: pictures and PINs can be read in transit",
      'Terminate TLS in front, and keep the option tls at "required"',
    );
  }
  const { certificateDays, tlsVersion } = hello;
  const days = certificateDays === null ? "" : `, the certificate is valid for ${certificateDays} days`;
  const detail = `${tlsVersion ?? "on"}${days}`;
  return certificateDays !== null && certificateDays < SOON_DAYS
    ? warning(TLS, detail, "Renew the certificate, automatically if possible")
    : ok(TLS, detail);
}

/**
 * Whether the plain http address beside an https address exposes nothing.
 * @param twin The mount at `http:`. No secret of the host app is sent to it.
 */
export async function checkPlainTwin(twin: string): Promise<Finding> {
  const check = "plain http";
  let answer: Answer;
  try {
    answer = await exchange(new URL(twin + HELLO_PATH), { silenceMs: TWIN_SILENCE_MS });
  } catch {
    // Whatever the reason, no PIN can be sent there.
    return ok(check, "nothing answers without TLS");
  }
  if (isImageService(answer)) {
    return problem(
      check,
      `${twin} serves images without TLS`,
      'Redirect it to https://, and keep the option tls at "required"',
    );
  }
  const isLed = isRedirect(answer) && headerOf(answer, "location")?.startsWith("https:");
  return ok(check, isLed ? "redirected to https" : `refused: ${describeAnswer(answer)}`);
}

/** The `http:` address beside an `https:` address; `null` for an explicit port. */
export function plainTwinOf(base: string): string | null {
  const { protocol, port } = new URL(base);
  return protocol === "https:" && port === "" ? base.replace(/^https:/, "http:") : null;
}

/** Whether a connection can be reused after an idle time. */
export async function checkKeepAlive(visit: MountVisit): Promise<Finding[]> {
  const options = { keepAlive: true, maxSockets: 1 };
  const agent = visit.base.startsWith("https:") ? new HttpsAgent(options) : new HttpAgent(options);
  const idleMs = Math.min(visit.patienceMs, MAX_IDLE_MS);
  const idle = `after ${idleMs / 1000} s`;
  try {
    const first = await visit.send(HELLO_PATH, { agent });
    await sleep(idleMs);
    const second = await visit.send(HELLO_PATH, { agent });
    if (second.isReused) return [ok(IDLE, `is reused ${idle}`)];
    return headerOf(first, "connection")?.toLowerCase() === "close"
      ? [ok(IDLE, "not kept: every reply closes its connection")]
      : [ok(IDLE, `is closed ${idle}, and a new one is opened`)];
  } catch (error) {
    const remedy =
      "Let the server keep idle connections longer than the proxy in front (server.keepAliveTimeout)";
    return [warning(IDLE, `a second request ${idle} fails: ${explainTrouble(error).detail}`, remedy)];
  } finally {
    agent.destroy();
  }
}

/**
 * Whether a proxy forwards a request as it arrives, or buffers it first. Both work, but the limits and timeouts of a
 * buffering proxy apply to uploads. The service rejects this request by its headers.
 */
export async function checkEarlyAnswer(visit: MountVisit): Promise<Finding[]> {
  const usual = await visit.send(HELLO_PATH);
  const pauseMs = usual.arrivedMs - usual.sentMs + PAUSE_MS;
  const body = Buffer.alloc(1024, " ");
  let completedMs = Number.POSITIVE_INFINITY;
  const answer = await visit.send("/api/images.json", {
    method: "POST",
    headers: { "Content-Type": "text/plain", "Content-Length": String(body.length) },
    finishesFirst: true,
    body: (async function* () {
      yield body.subarray(1);
      await sleep(pauseMs);
      completedMs = Date.now();
      yield body.subarray(0, 1);
    })(),
  });
  if (problemDetail(answer) === null) return [];
  return answer.arrivedMs >= completedMs
    ? [
        ok(
          BUFFERING,
          "a proxy in front buffers a request before it forwards it: its timeouts apply to uploads",
        ),
      ]
    : [ok(BUFFERING, "none, requests are forwarded as they arrive")];
}
