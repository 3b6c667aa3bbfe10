import type { Renderer } from "@outrigger/core/images";
import type { FontCoverage, Script } from "@outrigger/imaging";
import { reasonOf } from "../../cli/error-reason.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const BASIC_PACKAGE = "fonts-dejavu-core";

/** Packages of Debian and its derivatives. */
const packages: Readonly<Record<Script, string>> = {
  Latin: BASIC_PACKAGE,
  Greek: BASIC_PACKAGE,
  Cyrillic: BASIC_PACKAGE,
  Arabic: "fonts-noto-core",
  Hebrew: "fonts-noto-core",
  Devanagari: "fonts-noto-core",
  Thai: "fonts-noto-core",
  Chinese: "fonts-noto-cjk",
  Japanese: "fonts-noto-cjk",
  Korean: "fonts-noto-cjk",
  emoji: "fonts-noto-color-emoji",
};

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
  if (drawnScripts.length === 0) {
    return [
      problem(
        "fonts",
        "no font is installed: text in SVG pictures becomes boxes or disappears",
        advice(BASIC_PACKAGE),
      ),
    ];
  }
  return [
    alikeFamilies.length === 0
      ? ok("fonts", "sans-serif, serif and monospace")
      : warning(
          "fonts",
          `${listed(alikeFamilies)} look the same`,
          advice(`fontconfig-config ${BASIC_PACKAGE}`),
        ),
    ...drawnScripts.map((script) => ok(`${script} text`, "rendered")),
    ...missingScripts.map((script) =>
      warning(`${script} text`, "no font covers it", advice(packages[script])),
    ),
  ];
}

function listed(names: readonly string[]): string {
  return new Intl.ListFormat("en").format(names);
}

/** @param names Packages, separated by spaces. */
function advice(names: string): string {
  return `Install fonts, e.g. with apt-get install ${names}`;
}
