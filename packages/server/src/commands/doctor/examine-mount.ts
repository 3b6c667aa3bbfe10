import { parsedUrl, systemCode } from "@outrigger/core/values";
import { reasonOf } from "../../cli/error-reason.ts";
import { printable } from "../../cli/print.ts";
import { checkClock } from "./check-machine.ts";
import { type Finding, warning } from "./finding.ts";
import { Mount, type MountOptions, noisePng, Reply } from "./mount.ts";
import { found, IMAGE_CHECKS, refused } from "./mount-checks.ts";

/** An address whose GET answers 405 at the image service. */
const HELLO_PATH = "/api/images.json";
const MAX_REDIRECTS = 3;
const SOON_DAYS = 14;

/** Checks a running service from outside, as a client, and leaves no data behind. */
export async function* examineMount(options: MountOptions): AsyncGenerator<Finding> {
  let mount = new Mount(options);
  try {
    let hello = await mount.send(HELLO_PATH);
    for (let redirects = 0; redirects < MAX_REDIRECTS; redirects++) {
      const location = hello.header("Location");
      const { href } = parsedUrl(location, mount.base) ?? { href: "" };
      if (!href.endsWith(HELLO_PATH)) break;
      const base = href.slice(0, -HELLO_PATH.length);
      const isToTls = base === mount.base.replace(/^http:/, "https:");
      yield found("redirect", !isToTls && `${mount.base} redirects to ${base}`);
      mount = mount.at(base);
      hello = await mount.send(HELLO_PATH);
    }
    // A mount with only the lookup is valid.
    const isMounted = showsImageService(hello) || (await servesLookup(mount));
    yield found("mount", !isMounted && `${mount.base}: ${hello}`);
    if (!showsImageService(hello)) return;
    yield* checkTls(mount.base, hello.certificateDays);
    yield* examineImages(mount);
  } catch (error) {
    yield found("mount", `${mount.base}: ${troubleOf(error)}`);
  }
}

/** Whether this is the reply of the image service to a GET of the address for creates. */
function showsImageService(hello: Reply): boolean {
  return hello.status === 405 && /\bPOST\b/.test(hello.header("Allow"));
}

/** Why a request got no reply, by Node's code. Other errors explain themselves. */
const TROUBLES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens at this address",
  ECONNRESET: "the connection was cut without a reply",
  EPIPE: "the connection was cut without a reply",
  ERR_SSL: "the server does not speak TLS, or no version that this machine accepts",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
};

function troubleOf(error: unknown): string {
  const code = systemCode(error)?.replace(/^(?:ERR_SSL_.*|EPROTO)$/, "ERR_SSL") ?? "";
  return TROUBLES[code] ?? printable(reasonOf(error) || code);
}

async function servesLookup(mount: Mount): Promise<boolean> {
  const account = await mount.send("/v2/account");
  return (
    account.member("errors", "0", "id") === "authentication_failed" || account.member("data") !== undefined
  );
}

/** Whether requests are protected by TLS, and no request to the same host can omit it. */
export async function* checkTls(base: string, certificateDays: number): AsyncGenerator<Finding> {
  const { protocol, hostname, port } = new URL(base);
  if (protocol === "http:") {
    const isLoopback = /^(?:localhost|127\..*|\[::1\])$/.test(hostname);
    return yield found("TLS", !isLoopback && "pictures and PINs can be read in transit");
  }
  yield found("certificate", certificateDays < SOON_DAYS && `it is valid for ${certificateDays} days`);
  if (port !== "") return;
  const twin = base.replace(/^https:/, "http:");
  yield found("TLS", (await servesImages(twin)) && `${twin} serves images without TLS`);
}

/** Whether the image service is mounted here. Sends no headers of the host app. Without a reply, it is not. */
export async function servesImages(base: string): Promise<boolean> {
  const hello = await new Mount({ base, headers: {} }).send(HELLO_PATH).catch(() => null);
  return hello !== null && showsImageService(hello);
}

async function* examineImages(mount: Mount): AsyncGenerator<Finding> {
  try {
    const image = await mount.upload(noisePng(4)).catch(troubleOf);
    if (typeof image === "string") return yield found("upload", image);
    if (image instanceof Reply) {
      const isRefused = image.status === 401 || image.status === 403;
      const finding = refused("upload", image);
      return yield isRefused ? { ...finding, status: "warning" } : finding;
    }
    yield found("upload");
    const aheadMs = Date.parse(String(image.created.member("createdAt"))) - image.created.arrivedMs;
    yield checkClock("clock", aheadMs);
    for (const [check, findings] of IMAGE_CHECKS) {
      try {
        yield* findings(mount, image);
      } catch (error) {
        yield found(check, troubleOf(error));
      }
    }
  } finally {
    const left = await mount.leave();
    const remedy = "Delete them with outrigger images rm, or let them expire";
    if (left.length > 0) yield warning("leaving", `${left.join(" and ")} could not be deleted`, remedy);
  }
}
