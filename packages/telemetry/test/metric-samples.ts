/**
 * The samples of a text that Prometheus would read, by name and labels as they stand there, e.g.
 * `outrigger_served_total{from="store"}`.
 * @throws where a line is none of the format, or a sample has no type.
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
    if (name === undefined) throw new Error(`Not a line of the format: ${line}`);
    const family = types.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, "");
    if (!types.has(family)) throw new Error(`No type was told: ${line}`);
    samples.set(name + labels, Number(value));
  }
  return samples;
}

/** How many series of a metric there are, whatever their labels. */
export function seriesOf(samples: ReadonlyMap<string, number>, metric: string): string[] {
  return [...samples.keys()].filter((sample) => sample === metric || sample.startsWith(`${metric}{`));
}
