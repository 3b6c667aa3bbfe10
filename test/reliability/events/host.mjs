// Adds and removes images without end, with a webhook. Prints a line for each change that was acknowledged.
import { createFsBlobStore, createImages } from "@outrigger/core";
import { acceptingRenderer, endWithParent } from "../../support/host-process.mjs";

const [directory, url, secret, count] = process.argv.slice(2);
const AT_ONCE = 8;
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

endWithParent();
const images = createImages({
  storage: createFsBlobStore({ directory }),
  renderer: acceptingRenderer,
  rateLimits: false,
  onError: (error) => console.error(String(error)),
  webhooks: { endpoints: [{ url, secret }], internalHosts: [new URL(url).host] },
});

let left = Number(count);
async function work() {
  while (left-- > 0) {
    const { id } = await images.add(PNG, { name: "a.png" });
    console.log(`stored ${id}`);
    await images.remove(id);
    console.log(`removed ${id}`);
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, work));
console.log("done");
