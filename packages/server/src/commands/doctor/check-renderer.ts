import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ImageFormat, OriginalType, Renderer, Sandbox } from "@outrigger/core/images";
import { systemTemporaryDirectory } from "@outrigger/core/stores";
import type { FontCoverage, Script } from "@outrigger/imaging";
import { reasonOf } from "../../cli/error-reason.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const PICTURE = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>');
const PNG_SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const REMEDY = "Reinstall the packages (npm ci), and check the limits under renderer in the configuration";
const STRONGER =
  "Install bubblewrap (apt-get install bubblewrap) and allow user namespaces; see docs/security.md";

const TYPES: readonly (readonly [type: OriginalType, format: ImageFormat, name: string])[] = [
  ["image/png", "png", "PNG"],
  ["image/jpeg", "jpg", "JPEG"],
  ["image/gif", "gif", "GIF"],
  ["image/svg+xml", "svg", "SVG"],
  ["image/x-photoshop", "psd", "PSD"],
  ["application/pdf", "pdf", "PDF"],
];

/** Whether render processes start, and write, accept and render a tiny original of every type. */
export async function checkRenderer(renderer: Renderer): Promise<Finding[]> {
  try {
    await renderer.render({ bytes: PICTURE }, "image/svg+xml", { format: "png" });
  } catch (error) {
    return [problem("renderer", `does not work: ${reasonOf(error)}`, REMEDY)];
  }
  const findings = [ok("renderer"), ...sandboxFindings(renderer.sandbox)];
  const directory = await mkdtemp(join(systemTemporaryDirectory(), "doctor-"));
  try {
    for (const type of TYPES) findings.push(await checkType(renderer, type, join(directory, type[1])));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return findings;
}

/** The level of the sandbox, and the reason why it is not the strongest. */
function sandboxFindings(sandbox: Sandbox | null | undefined): Finding[] {
  if (!sandbox) return [];
  const { level, refusesProcesses = false, failures } = sandbox;
  const reasons = failures.map(({ level: stronger, reason }) => `${stronger} does not work: ${reason}`);
  const isBound = level === "bubblewrap" || level === "namespaces";
  if (refusesProcesses) reasons.unshift("the kernel refuses new processes");
  else if (isBound) reasons.unshift("new processes are not refused, but measured and killed");
  if (level === "none" && failures.length === 0) reasons.push("switched off");
  const detail = [level, ...reasons].join("; ");
  const findings = [warning("sandbox", !isBound && detail, STRONGER, detail)];
  if (process.getuid?.() === 0)
    findings.push(warning("user", "root: render processes run as root, too", "Run as another user"));
  return findings;
}

async function checkType(
  renderer: Renderer,
  [type, format, name]: (typeof TYPES)[number],
  cleanedPath: string,
): Promise<Finding> {
  const svg = { bytes: PICTURE };
  try {
    const written = format === "svg" ? svg : await renderer.render(svg, "image/svg+xml", { format });
    const { cleaned } = await renderer.admit(written, type, { cleanedPath });
    const stored = cleaned === null ? written : { path: cleanedPath };
    const { bytes } = await renderer.render(stored, type, { format: "png" });
    const isPng = Buffer.from(bytes).indexOf(PNG_SIGNATURE) === 0;
    return problem(name, !isPng && "the rendition is not a PNG", REMEDY, "rendered");
  } catch (error) {
    return problem(name, `cannot be rendered: ${reasonOf(error)}`, REMEDY);
  }
}

/** Whether text in SVG pictures is rendered, for each script. */
export async function checkFonts(renderer: Renderer): Promise<Finding[]> {
  try {
    // Loaded here: the checks of a mount use this module without the renderer.
    const { measureFontCoverage } = await import("@outrigger/imaging");
    return fontFindings(await measureFontCoverage(renderer));
  } catch (error) {
    return [problem("fonts", `could not be checked: ${reasonOf(error)}`, "Fix the renderer first")];
  }
}

function fontFindings({ drawnScripts, missingScripts, alikeFamilies }: FontCoverage): Finding[] {
  if (drawnScripts.length === 0) return [NO_FONTS];
  const alike = `${new Intl.ListFormat("en").format(alikeFamilies)} look the same`;
  return [
    warning("fonts", alikeFamilies.length > 0 && alike, `${install("Latin")} fontconfig-config`),
    ...drawnScripts.map((script) => ok(`${script} text`, "rendered")),
    ...missingScripts.map((script) => warning(`${script} text`, "no font covers it", install(script))),
  ];
}

/** The line that installs fonts for a script, by the packages of Debian and its derivatives. */
function install(script: Script): string {
  let fonts = "noto-core";
  if (["Latin", "Greek", "Cyrillic"].includes(script)) fonts = "dejavu-core";
  if (["Chinese", "Japanese", "Korean"].includes(script)) fonts = "noto-cjk";
  if (script === "emoji") fonts = "noto-color-emoji";
  return `Install fonts, e.g. with apt-get install fonts-${fonts}`;
}

/** The finding for a machine on which no text is rendered. */
export const NO_FONTS = problem(
  "fonts",
  "no font is installed: text in SVG pictures becomes boxes or disappears",
  install("Latin"),
);
