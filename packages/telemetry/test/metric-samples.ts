/**
 * Parses a text in the format of Prometheus. The keys are names with labels as in the text, e.g.
 * `outrigger_served_total{from="store"}`.
 * @throws if a line does not match the format, or a sample has no type.
 */
export function samplesOf(text: string): Map<string, number> {
  const types = new Map<string, string>();
  const samples = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, metric, type] = /^# TYPE (\w+) (counter|gauge|histogram|summary)$/.exec(line) ?? [];
    if (metric !== undefined && type !== undefined) types.set(metric, type);
    if (line === "" || /^# (?:TYPE|HELP) \w+ \S/.test(line)) continue;
    const [, name, labels = "", value] =
      /^([a-z_]\w*)(\{(?:\w+="[^"\\\n]*",?)+\})? (-?[\d.e+-]+|NaN|[+-]Inf)$/i.exec(line) ?? [];
    if (name === undefined) throw new Error(`The line does not match the format: ${line}`);
    const family = types.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, "");
    if (!types.has(family)) throw new Error(`The sample has no TYPE line: ${line}`);
    samples.set(name + labels, Number(value));
  }
  return samples;
}

/** The series of a metric, with any labels. */
export function seriesOf(samples: ReadonlyMap<string, number>, metric: string): string[] {
  return [...samples.keys()].filter((sample) => sample === metric || sample.startsWith(`${metric}{`));
}
