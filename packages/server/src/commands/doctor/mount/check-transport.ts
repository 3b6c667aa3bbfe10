import { type Finding, ok, problem, warning } from "../finding.ts";
import { type Answer, describeAnswer, headerOf, isRedirect } from "./answer.ts";
import { HELLO_PATH, isImageService } from "./check-reach.ts";
import { exchange } from "./exchange.ts";

const CHECK = "TLS";
const SOON_DAYS = 14;
const TWIN_SILENCE_MS = 5_000;

/** Whether what is sent to a mount is protected on its way. @param hello What it answered. */
export function checkTls(base: string, hello: Answer): Finding {
  if (base.startsWith("http:")) {
    if (hello.isLoopback) return ok(CHECK, "none, which is for development on this machine");
    return problem(
      CHECK,
      "plain http is answered: pictures and PINs can be read on their way",
      'Put TLS in front, and leave the option tls at "required"',
    );
  }
  const { certificateDays, tlsVersion } = hello;
  const days = certificateDays === null ? "" : `, the certificate is valid for ${certificateDays} days`;
  const detail = `${tlsVersion ?? "on"}${days}`;
  return certificateDays !== null && certificateDays < SOON_DAYS
    ? warning(CHECK, detail, "Have it renewed, by itself if possible")
    : ok(CHECK, detail);
}

/**
 * Whether the address without TLS beside one with TLS gives nothing away.
 * @param twin The mount at `http:`. Nothing that is the host app's secret is sent there.
 */
export async function checkPlainTwin(twin: string): Promise<Finding> {
  const check = "plain http";
  let answer: Answer;
  try {
    answer = await exchange(new URL(twin + HELLO_PATH), { silenceMs: TWIN_SILENCE_MS });
  } catch {
    // Whatever the reason: nobody can send a PIN there.
    return ok(check, "nothing answers without TLS");
  }
  if (isImageService(answer)) {
    return problem(
      check,
      `${twin} is answered without TLS`,
      'Redirect it to https://, and leave the option tls at "required"',
    );
  }
  const isLed = isRedirect(answer) && headerOf(answer, "location")?.startsWith("https:");
  return ok(check, isLed ? "redirected to https" : `refused: ${describeAnswer(answer)}`);
}

/** The address at `http:` beside one at `https:`; `null` where nobody would look for one. */
export function plainTwinOf(base: string): string | null {
  const { protocol, port } = new URL(base);
  return protocol === "https:" && port === "" ? base.replace(/^https:/, "http:") : null;
}
