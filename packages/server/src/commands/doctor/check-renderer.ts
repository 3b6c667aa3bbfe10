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

const TYPES: readonly (readonly [name: string, type: OriginalType, format: ImageFormat])[] = [
  ["PNG", "image/png", "png"],
  ["JPEG", "image/jpeg", "jpg"],
  ["GIF", "image/gif", "gif"],
  ["SVG", "image/svg+xml", "svg"],
  ["PSD", "image/x-photoshop", "psd"],
  ["PDF", "application/pdf", "pdf"],
];

/** Packages of Debian and its derivatives. */
const BASIC_FONTS = "fonts-dejavu-core";
const FONTS: Readonly<Record<Script, string>> = {
  Latin: BASIC_FONTS,
  Greek: BASIC_FONTS,
  Cyrillic: BASIC_FONTS,
  Arabic: "fonts-noto-core",
  Hebrew: "fonts-noto-core",
  Devanagari: "fonts-noto-core",
  Thai: "fonts-noto-core",
  Chinese: "fonts-noto-cjk",
  Japanese: "fonts-noto-cjk",
  Korean: "fonts-noto-cjk",
  emoji: "fonts-noto-color-emoji",
};

/** Whether render processes start, and write, accept and render a tiny original of every type. */
export async function checkRenderer(renderer: Renderer): Promise<Finding[]> {
  const begun = performance.now();
  try {
    await renderer.render({ bytes: PICTURE }, "image/svg+xml", { format: "png" });
  } catch (error) {
    return [problem("renderer", `does not work: ${reasonOf(error)}`, REMEDY)];
  }
  const findings = [ok("renderer", `started in ${millisecondsSince(begun)}`)];
  findings.push(...sandboxFindings(renderer.sandbox));
  const directory = await mkdtemp(join(systemTemporaryDirectory(), "doctor-"));
  try {
    for (const type of TYPES) findings.push(await checkType(renderer, type, join(directory, type[0])));
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
  const binds = level === "bubblewrap" || level === "namespaces";
  const detail = [
    level,
    ...(refusesProcesses ? ["the kernel refuses new processes"] : []),
    ...(binds && !refusesProcesses ? ["new processes are not refused, but measured and killed"] : []),
    ...(level === "none" && failures.length === 0 ? ["switched off"] : reasons),
  ].join("; ");
  const findings = [binds ? ok("sandbox", detail) : warning("sandbox", detail, STRONGER)];
  if (process.getuid?.() === 0)
    findings.push(warning("user", "root: render processes run as root, too", "Run as another user"));
  return findings;
}

async function checkType(
  renderer: Renderer,
  [name, type, format]: (typeof TYPES)[number],
  cleanedPath: string,
): Promise<Finding> {
  if (renderer.canRender?.(type, "png") === false)
    return problem(name, "this renderer does not support it", "Update @outrigger/imaging");
  const begun = performance.now();
  try {
    const written =
      format === "svg"
        ? { bytes: PICTURE }
        : await renderer.render({ bytes: PICTURE }, "image/svg+xml", { format });
    const { cleaned } = await renderer.admit(written, type, { cleanedPath });
    const stored = cleaned === null ? written : { path: cleanedPath };
    const { bytes } = await renderer.render(stored, type, { format: "png" });
    if (Buffer.from(bytes).indexOf(PNG_SIGNATURE) !== 0)
      return problem(name, "the rendition is not a PNG", REMEDY);
  } catch (error) {
    return problem(name, `cannot be rendered: ${reasonOf(error)}`, REMEDY);
  }
  return ok(name, `rendered in ${millisecondsSince(begun)}`);
}

function millisecondsSince(begun: number): string {
  return `${Math.round(performance.now() - begun)} ms`;
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

/** The findings for the fonts of a machine. */
export function fontFindings({ drawnScripts, missingScripts, alikeFamilies }: FontCoverage): Finding[] {
  const install = (names: string) => `Install fonts, e.g. with apt-get install ${names}`;
  const none = "no font is installed: text in SVG pictures becomes boxes or disappears";
  if (drawnScripts.length === 0) return [problem("fonts", none, install(BASIC_FONTS))];
  const alike = `${new Intl.ListFormat("en").format(alikeFamilies)} look the same`;
  return [
    alikeFamilies.length === 0
      ? ok("fonts", "sans-serif, serif and monospace")
      : warning("fonts", alike, install(`fontconfig-config ${BASIC_FONTS}`)),
    ...drawnScripts.map((script) => ok(`${script} text`, "rendered")),
    ...missingScripts.map((script) => warning(`${script} text`, "no font covers it", install(FONTS[script]))),
  ];
}
