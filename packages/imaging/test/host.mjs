/**
 * A host app for process-lifetime.long.test.ts. `once`: renders once and then has nothing to do. `hang`: starts long renders
 * and reports its workers.
 */
import { createRenderer } from "@outrigger/imaging";

const renderer = createRenderer();
const type = "image/svg+xml";
const render = (svg) => renderer.render({ bytes: Buffer.from(svg) }, type, { format: "png" });
const plain = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';

if (process.argv[2] === "once") {
  const { bytes } = await render(plain);
  process.stdout.write(`${bytes.length}\n`);
} else {
  await Promise.all([render(plain), render(plain)]);
  const busy =
    '<svg xmlns="http://www.w3.org/2000/svg" width="5000" height="5000"><filter id="f" width="1" height="1">' +
    '<feTurbulence baseFrequency=".01" numOctaves="100"/></filter>' +
    '<rect width="5000" height="5000" filter="url(#f)"/></svg>';
  for (let n = 0; n < 2; n++) render(busy).catch(() => {});
  process.stdout.write("busy\n");
}
