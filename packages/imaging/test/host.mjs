/**
 * A host app for process-lifetime.long.test.ts. `once`: renders once and then has nothing to do. `hang`: starts long renders
 * and reports the level of its sandbox. `thread`: the same in a thread. `start`: starts a worker and has nothing to do.
 */
import { isMainThread, Worker } from "node:worker_threads";
import { createRenderer } from "@outrigger/imaging";

const [, , mode, sandbox = "best"] = process.argv;
if (mode === "thread" && isMainThread) new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) });
else await run();

async function run() {
  const renderer = createRenderer({ sandbox, workers: 2 });
  const type = "image/svg+xml";
  const render = (svg) => renderer.render({ bytes: Buffer.from(svg) }, type, { format: "png" });
  const plain = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';

  if (mode === "start") {
    renderer.start();
    return;
  }
  if (mode === "once") {
    const { bytes } = await render(plain);
    process.stdout.write(`${bytes.length}\n`);
    return;
  }
  await Promise.all([render(plain), render(plain)]);
  const busy =
    '<svg xmlns="http://www.w3.org/2000/svg" width="5000" height="5000"><filter id="f" width="1" height="1">' +
    '<feTurbulence baseFrequency=".01" numOctaves="100"/></filter>' +
    '<rect width="5000" height="5000" filter="url(#f)"/></svg>';
  for (let n = 0; n < 2; n++) render(busy).catch(() => {});
  process.stdout.write(`${renderer.sandbox.level}\n`);
}
