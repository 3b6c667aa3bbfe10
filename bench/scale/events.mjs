import { formatColumns } from "../src/table.mjs";
import { DAY_SECONDS } from "./inputs.mjs";
import { cpuMicros, nodesOf, requestsPrice } from "./plan.mjs";
import { waitSeconds } from "./queue.mjs";
import { bytes, count, duration, percent, USD } from "./units.mjs";

/** @import { Inputs } from "./inputs.mjs" */
/** @import { Load } from "./plan.mjs" */

/**
 * Days that differ from others: queues, storms, waves, and walks through everything.
 * @param {Inputs} inputs
 * @param {Load} load
 */
export function describeEvents(inputs, load) {
  const rows = [
    ...queues(inputs, load),
    ...storms(inputs, load),
    ...waves(inputs, load),
    ...walks(inputs, load),
  ];
  return formatColumns(["Event", "How", "Result"], rows, new Set(["Result"]));
}

/** @param {Inputs} inputs */
function renderSeconds(inputs) {
  return cpuMicros(inputs, "redis-s3", "cold").node / 1e6;
}

/** @param {Inputs} inputs @param {number} workers @param {number} utilization */
function wait(inputs, workers, utilization) {
  return waitSeconds({
    ...{ workers, utilization, serviceSeconds: renderSeconds(inputs) },
    variation: inputs.number("serviceVariation"),
    share: inputs.number("waitingShare"),
  });
}

/** @param {Inputs} inputs @param {Load} load */
function queues(inputs, load) {
  const workers = inputs.number("renderProcesses");
  const all = workers * nodesOf(inputs, load.rates);
  return inputs
    .numbers("utilizations")
    .map((utilization) => [
      `wait for a render, p99, render processes ${percent(utilization)} busy`,
      `M/M/c, c = ${workers} of one node; ${count(all)} of all nodes in one queue`,
      `${duration(wait(inputs, workers, utilization))}; ${duration(wait(inputs, all, utilization))}`,
    ]);
}

/** @param {Inputs} inputs @param {Load} load */
function storms(inputs, load) {
  const { traffic } = load;
  const fill = inputs.number("utilization");
  const nodes = nodesOf(inputs, load.rates);
  const cores = nodes * inputs.number("nodeCores");
  const micros = cpuMicros(inputs, "redis-s3", "stored").node;
  const refilled = inputs.number("refilled");
  const { GET = 1 } = inputs.counts("s3.rates");
  const renders = load.images * load.renditions;
  const highest = Math.max(...inputs.numbers("utilizations"));
  return [
    ["the whole CDN is purged: reads at the nodes per second", "R", count(traffic.reads)],
    [
      "cores that answer all of them from S3",
      "R × CPU of a read from the store",
      `${count((traffic.reads * micros) / 1e6)} of ${count(cores)}`,
    ],
    ["GET to S3: partitions of its keys", "R ÷ rate of a partition", (traffic.reads / GET).toFixed(1)],
    [
      `until the CDN has ${percent(refilled)} of its hits again`,
      "Σ reads of objects read since",
      duration(traffic.refillSeconds(refilled)),
    ],
    [
      "all renditions are lost as well: cores that render every read",
      "R × CPU of a render",
      count(traffic.reads * renderSeconds(inputs)),
    ],
    [
      "until the nodes have rendered everything again",
      "N × renditions × CPU ÷ idle cores",
      duration((renders * renderSeconds(inputs)) / (cores * (1 - fill))),
    ],
    [
      `nodes that may fail until the rest is ${percent(highest)} busy`,
      `nodes × (1 − ${fill} ÷ ${highest})`,
      `${count(Math.floor(nodes * (1 - fill / highest)))} of ${count(nodes)}`,
    ],
    [
      "further GET per second after a node is lost, until its memory is full again",
      "reads from its memory",
      ((traffic.missed * load.memoryShare) / nodes).toFixed(2),
    ],
  ];
}

/** @param {Inputs} inputs @param {Load} load */
function waves(inputs, load) {
  const day = inputs.number("shortLifeDays");
  const perDay = load.rates.upload * DAY_SECONDS;
  const perSecond = load.images / (day * DAY_SECONDS);
  return ["redis", "postgres"].flatMap((name) => {
    const swept = inputs.number(`${name}.sweptPerSecond`);
    const title = name === "redis" ? "Redis" : "PostgreSQL";
    return [
      [
        `a day's uploads end at once: one sweeping process, ${title}`,
        "U × 1 day ÷ images swept per second",
        duration(perDay / swept),
      ],
      [
        `all images live for ${day} day: sweeping processes, ${title}`,
        `N ÷ ${day} day ÷ images swept per second`,
        `${count(perSecond)} ends per second: ${Math.ceil(perSecond / swept)}`,
      ],
    ];
  });
}

/** @param {Inputs} inputs @param {Load} load */
function walks(inputs, load) {
  const { GET = 1 } = inputs.counts("s3.rates");
  const lists = (load.images * (1 + load.renditions)) / inputs.number("s3.listedKeys");
  const rows = [
    ["read every record, one process, PostgreSQL", "postgres.walkedPerSecond"],
    ["read every record, one process, a directory", "directory.walkedPerSecond"],
  ];
  return [
    ...rows.map(([what = "", name = ""]) => [
      what,
      "N ÷ records per second",
      duration(load.images / inputs.number(name)),
    ]),
    [
      "list every object in S3",
      "N × (1 + renditions) ÷ keys of a LIST",
      `${count(lists)} LIST, ${USD(requestsPrice(inputs, { LIST: lists }))} USD`,
    ],
    [
      "read every original (`verify`, `backup`, `migrate`), one partition",
      "N ÷ GET per second",
      `${duration(load.images / GET)}, ${bytes(load.originalBytes)}, ${USD(requestsPrice(inputs, { GET: load.images }))} USD`,
    ],
  ];
}
