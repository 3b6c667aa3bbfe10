import { drawInChromium } from "./oracles/chromium.ts";
import { drawWithPoppler } from "./oracles/poppler.ts";
import { drawWithImageMagick, drawWithPsdTools } from "./oracles/psd-tools.ts";
import { type Outcome, renderAll } from "./ours.ts";
import { percentDifference, type Rgba } from "./picture.ts";
import { type Kind, kindOf, type Sample } from "./samples/sample.ts";
import { WITHIN_PERCENT } from "./shares.ts";

/** A sample as we and its independent reader see it. */
export interface Finding {
  name: string;
  kind: Kind;
  /** Whether the independent reader opens it. */
  isOpened: boolean;
  /** Our reason for the refusal; `null`: taken. */
  refusal: string | null;
  /** The difference of the two pictures in percent; `null`: there are not two. */
  percent: number | null;
}

/** Renders all samples with both, and compares. */
export async function measure(samples: readonly Sample[]): Promise<Finding[]> {
  const of = (...kinds: Kind[]) => samples.filter((sample) => kinds.includes(kindOf(sample)));
  const [outcomes, ...drawn] = await Promise.all([
    renderAll(samples),
    drawInChromium(of("png", "jpeg", "gif", "svg")),
    drawWithPoppler(of("pdf")),
    drawWithPsdTools(of("psd")),
  ]);
  const references = new Map(drawn.flatMap((pictures) => [...pictures]));
  const findings: Finding[] = [];
  for (const sample of samples) {
    findings.push(await compare(sample, outcomes.get(sample.name), references.get(sample.name) ?? null));
  }
  return findings;
}

async function compare(
  sample: Sample,
  outcome: Outcome | undefined,
  reference: Rgba | null,
): Promise<Finding> {
  if (outcome === undefined) throw new Error(`${sample.name} was not rendered`);
  const finding = { name: sample.name, kind: kindOf(sample), isOpened: reference !== null };
  if ("refusal" in outcome) return { ...finding, refusal: outcome.refusal, percent: null };
  if (reference === null) return { ...finding, refusal: null, percent: null };
  const percent = await percentDifference(outcome.picture, reference);
  const other = finding.kind === "psd" && percent > WITHIN_PERCENT ? await drawWithImageMagick(sample) : null;
  const second = other === null ? percent : await percentDifference(outcome.picture, other);
  return { ...finding, refusal: null, percent: Math.min(percent, second) };
}
