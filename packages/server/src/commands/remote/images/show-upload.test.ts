import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { showUpload } from "./show-upload.ts";

/** The output to a stream of this kind. */
function watched(isTTY: boolean) {
  const output = new PassThrough();
  // The members of a terminal that the progress display uses.
  const stream = Object.assign(output, { isTTY, columns: 120 }) as unknown as NodeJS.WriteStream;
  return { stream, text: () => String(output.read() ?? "") };
}

it("showUpload shows a bar for all files on a terminal, and erases it after each file", () => {
  const { stream, text } = watched(true);
  const view = showUpload(2, 4_000_000, stream);
  view.begin("first\u001b.png", 1_000_000);
  view.update(1_000_200);
  view.end();
  view.begin(`${"long".repeat(10)}.png`, 3_000_000);
  view.end();
  const shown = text();
  expect(shown).toContain("25% | 1.0 MB of 4.0 MB | ");
  expect(shown).toContain("1/2 first\\u001b.png: waiting for the service");
  expect(shown).toContain(`2/2 ${"long".repeat(10).slice(0, 29)}…`);
  // The line is erased and the cursor visible again.
  expect(shown.lastIndexOf("\u001b[?25h")).toBeGreaterThan(shown.lastIndexOf("\u001b[?25l"));
  expect(shown.endsWith("\u001b[2K")).toBe(true);
});

it("showUpload writes nothing to any other stream", () => {
  const { stream, text } = watched(false);
  const view = showUpload(1, 10, stream);
  view.begin("photo.jpg", 10);
  view.update(10);
  view.end();
  expect(text()).toBe("");
});
