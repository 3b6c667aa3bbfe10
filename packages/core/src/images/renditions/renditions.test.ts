import { expect, test } from "vitest";
import { created, type ImageSite } from "../../../test/image-site.ts";
import { createLifeSite, willingRenderer } from "../../../test/life-site.ts";

/** A renderer of one release. Its output names the release. */
function releaseOf(build: string) {
  return Object.assign(willingRenderer(), {
    build,
    render: async () => ({ bytes: Buffer.from(`made by ${build}`) }),
  });
}

/** An image whose WebP the release b1 has stored, for processes of other releases. None keeps bytes in memory. */
async function storedByFirst() {
  const site = createLifeSite({ renderer: releaseOf("b1"), memoryBytes: 0 });
  const { id } = created(await site.create());
  const read = async ({ send }: ImageSite, headers: Record<string, string> = {}) => {
    const answer = await send("GET", `/api/images/${id}.webp`, { headers });
    return { status: answer.status, etag: String(answer.headers.ETag), text: answer.text };
  };
  const first = await read(site);
  await site.images.close();
  const another = (build: string) => site.another({ renderer: releaseOf(build) });
  return { store: site.store, key: `${id}/renditions/webp`, first, read, another };
}

test("a rendition stored by another build is served with the tag of that build and not rendered again", async () => {
  const { first, read, another } = await storedByFirst();
  expect(first).toEqual({ status: 200, etag: expect.stringMatching(/\.b1"$/), text: "made by b1" });
  expect(await read(another("b2"))).toEqual(first);
});

test("the tag of a rendition that is not stored names this build", async () => {
  const { store, key, first, read, another } = await storedByFirst();
  const next = another("b2");
  expect((await read(next, { "if-none-match": first.etag })).status).toBe(304);
  await store.delete(key);
  const made = await read(next, { "if-none-match": first.etag });
  expect(made).toEqual({ status: 200, etag: expect.stringMatching(/\.b2"$/), text: "made by b2" });
});

test.each([0, 5, 200])("%i stored bytes without a header are replaced by a rendition", async (length) => {
  const { store, key, read, another } = await storedByFirst();
  await store.put(key, Buffer.alloc(length));
  const next = another("b2");
  const made = await read(next);
  expect(made.text).toBe("made by b2");
  await next.images.close();
  expect(await read(another("b3"))).toEqual(made);
});
