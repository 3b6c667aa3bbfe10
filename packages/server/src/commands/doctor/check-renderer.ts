import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Renderer, Sandbox } from "@outrigger/core/images";
import { systemTemporaryDirectory } from "@outrigger/core/stores";
import { reasonOf } from "../../cli/error-reason.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";
import { type Sample, samples } from "./samples.ts";

const PICTURE = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>');
const PNG_SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const REMEDY = "Reinstall the packages (npm ci), and check the limits under renderer in the configuration";

/** Whether render processes start, and accept and render a tiny original of every type. */
export async function checkRenderer(renderer: Renderer): Promise<Finding[]> {
  const start = await tryStart(renderer);
  if (start.status === "problem") return [start];
  const findings = [start, ...sandboxFindings(renderer.sandbox)];
  const directory = await mkdtemp(join(systemTemporaryDirectory(), "doctor-"));
  try {
    for (const sample of samples) {
      findings.push(await trySample(renderer, sample, join(directory, sample.name)));
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return findings;
}

async function tryStart(renderer: Renderer): Promise<Finding> {
  const begun = performance.now();
  try {
    await renderer.render({ bytes: PICTURE }, "image/svg+xml", { format: "png" });
  } catch (error) {
    return problem("renderer", `does not work: ${reasonOf(error)}`, REMEDY);
  }
  return ok("renderer", `started in ${millisecondsSince(begun)}`);
}

const STRONGER =
  "Install bubblewrap (apt-get install bubblewrap) and allow user namespaces; see docs/security.md";

/** The level of the sandbox, and the reason why it is not the strongest. */
function sandboxFindings(sandbox: Sandbox | null | undefined): Finding[] {
  if (!sandbox) return [];
  const { level, refusesProcesses = false, failures } = sandbox;
  const reasons = failures.map(({ level: stronger, reason }) => `${stronger} does not work: ${reason}`);
  const binds = level === "bubblewrap" || level === "namespaces";
  const detail = [
    level,
    ...(refusesProcesses ? ["the kernel refuses new processes"] : []),
    ...(binds && !refusesProcesses ? ["new processes are not refused, but measured and killed"] : []),
    ...(level === "none" && failures.length === 0 ? ["switched off"] : reasons),
  ].join("; ");
  return [
    binds ? ok("sandbox", detail) : warning("sandbox", detail, STRONGER),
    ...(process.getuid?.() === 0
      ? [warning("user", "root: render processes run as root, too", "Run as another user")]
      : []),
  ];
}

async function trySample(renderer: Renderer, sample: Sample, cleanedPath: string): Promise<Finding> {
  const { name, type, bytes } = sample;
  if (!renderer.canRender(type, "png"))
    return problem(name, "this renderer does not support it", "Update @outrigger/imaging");
  const begun = performance.now();
  try {
    const { cleaned } = await renderer.admit({ bytes }, type, { cleanedPath });
    const stored = cleaned === null ? { bytes } : { path: cleanedPath };
    const rendition = await renderer.render(stored, type, { format: "png" });
    if (!rendition.bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) {
      return problem(name, "the rendition is not a PNG", REMEDY);
    }
  } catch (error) {
    return problem(name, `cannot be rendered: ${reasonOf(error)}`, REMEDY);
  }
  return ok(name, `rendered in ${millisecondsSince(begun)}`);
}

function millisecondsSince(begun: number): string {
  return `${Math.round(performance.now() - begun)} ms`;
}
