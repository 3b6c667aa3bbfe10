import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { printLines } from "./print.ts";

async function* lines(count: number, given: { count: number }): AsyncGenerator<string> {
  for (let number = 0; number < count; number++) {
    given.count++;
    yield `${number}\n`;
  }
}

it("printLines reads no further ahead than the output accepts", async () => {
  const given = { count: 0 };
  let ahead = 0;
  let written = 0;
  const output = new Writable({
    highWaterMark: 8,
    write(_chunk, _encoding, done) {
      written++;
      ahead = Math.max(ahead, given.count - written);
      setImmediate(done);
    },
  });
  await printLines(lines(1000, given), output);
  expect(given.count).toBe(1000);
  expect(ahead).toBeLessThan(10);
});

it("printLines stops when the reader ends and rejects when the output fails", async () => {
  for (const code of ["EPIPE", "ENOSPC"]) {
    const given = { count: 0 };
    const output = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })),
    });
    const printed = printLines(lines(1000, given), output);
    if (code === "EPIPE") await printed;
    else await expect(printed).rejects.toThrow("ENOSPC");
    expect(given.count).toBeLessThan(10);
  }
});
