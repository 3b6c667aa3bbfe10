import { expect, test } from "vitest";
import { createMultipart } from "./multipart.ts";

const BYTES = new Uint8Array([0, 13, 10, 45, 45, 255]);
const file = { field: "imagedata", fileName: "a.png", type: "image/png", size: BYTES.length };

function multipart(fields: Record<string, string>, fileName = file.fileName) {
  return createMultipart(fields, { ...file, fileName, source: new Blob([BYTES]) });
}

test("createMultipart writes a form that other parsers read, with the stated length, each time it is opened", async () => {
  const fields = { name: 'ü "q"\r\n--x', expiresAt: "1", 'odd"\r\nname': "v" };
  const fileName = 'quo"te\\ \r\nü.png';
  const form = multipart(fields, fileName);
  for (let count = 0; count < 2; count++) {
    const sent: number[] = [];
    const body = await new Response(form.open((bytes) => sent.push(bytes)).stream).arrayBuffer();
    expect(body.byteLength).toBe(form.length);
    expect(sent.at(-1)).toBe(form.length);
    const headers = { "Content-Type": form.contentType };
    const read = await new Response(body, { headers }).formData();
    expect(read.get("name")).toBe(fields.name);
    expect(read.get("expiresAt")).toBe("1");
    expect(read.get('odd"\r\nname')).toBe("v");
    const got = read.get("imagedata");
    if (!(got instanceof File)) throw new Error("The form has no file");
    expect([got.name, got.type, new Uint8Array(await got.arrayBuffer())]).toEqual([
      fileName,
      "image/png",
      BYTES,
    ]);
  }
});

test("createMultipart uses a new boundary for each form", () => {
  expect(multipart({}).contentType).not.toBe(multipart({}).contentType);
});

test("an open form reads its source on demand and cancels it when closed", async () => {
  let given = 0;
  let cancelled = 0;
  const stream = () =>
    new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          given++;
          controller.enqueue(new Uint8Array(1));
        },
        cancel: () => void cancelled++,
      },
      { highWaterMark: 0 },
    );
  const source = { name: "a", type: "", size: 100, stream };
  const body = createMultipart({}, { ...file, size: 100, source }).open(() => {});
  const reader = body.stream.getReader();
  expect(given).toBe(0);
  await reader.read();
  await reader.read();
  expect(given).toBe(1);
  body.close();
  body.close();
  expect([cancelled, body.failure()]).toEqual([1, null]);
});
