import { expect, test } from "vitest";
import { acceptAll, createFakeRenderer } from "../../../test/fake-renderer.ts";
import { created, createSite, eventually, type ImageSite } from "../../../test/image-site.ts";
import { createSharedQueue } from "../../../test/job-queues.ts";

async function createLater(site: ImageSite): Promise<string> {
  const answer = await site.create({ headers: { prefer: "respond-async" } });
  expect(answer.status).toBe(202);
  return created(answer).id;
}

async function statusOf(site: ImageSite, id: string): Promise<unknown> {
  return (await site.send("GET", `/api/images/${id}.json`)).json.status;
}

test("an upload accepted by a process with processUploads: false is processed by another process", async () => {
  const queue = createSharedQueue();
  const front = createSite({ jobQueue: queue.open(), processUploads: false });
  const back = front.another({ jobQueue: queue.open(), processUploads: true });
  const id = await createLater(front);
  (await back.renderer.next()).accept();
  await eventually(async () => expect(await statusOf(front, id)).toBe("ready"));
  expect(front.renderer.calls).toBe(0);
  expect(back.renderer.calls).toBe(1);
});

test("processes on one queue share the jobs, each running two at a time", async () => {
  const queue = createSharedQueue();
  const one = createSite({ jobQueue: queue.open() });
  const other = one.another({ jobQueue: queue.open() });
  const ids: string[] = [];
  for (let turn = 0; turn < 6; turn++) ids.push(await createLater(one));
  await eventually(() => {
    expect([one.renderer.pending.length, other.renderer.pending.length]).toEqual([2, 2]);
  });
  expect(queue.waiting).toEqual(ids.slice(4));
  for (const { renderer } of [one, other]) {
    renderer.answer = acceptAll;
    for (const admitting of [...renderer.pending]) admitting.accept();
  }
  for (const id of ids) await eventually(async () => expect(await statusOf(one, id)).toBe("ready"));
  expect(one.renderer.calls + other.renderer.calls).toBe(6);
});

test("without a queue, a process with processUploads: false leaves its upload to another process", async () => {
  const site = createSite({ processUploads: false });
  const id = await createLater(site);
  expect(await statusOf(site, id)).toBe("processing");
  const worker = site.another({ processUploads: true, renderer: createFakeRenderer(acceptAll) });
  await eventually(async () => expect(await statusOf(worker, id)).toBe("ready"));
  expect(site.renderer.calls).toBe(0);
});

test("while the queue is unavailable, a process works on the uploads that it accepts and reports the failure", async () => {
  const queue = createSharedQueue();
  queue.isAway = true;
  const site = createSite({ jobQueue: queue.open(), renderer: createFakeRenderer(acceptAll) });
  const id = await createLater(site);
  await eventually(async () => expect(await statusOf(site, id)).toBe("ready"));
  // One error for the length check, one for the job.
  expect(site.errors).toMatchObject([{ code: "store_unavailable" }, { code: "store_unavailable" }]);
});

test("a full shared queue answers 503 with Retry-After", async () => {
  const queue = createSharedQueue();
  const site = createSite({ jobQueue: queue.open(), processUploads: false });
  const outside = queue.open();
  for (let count = 0; count < 1000; count++) await outside.enqueue({ id: `job-${count}`, createdAt: 0 });
  const answer = await site.create({ headers: { prefer: "respond-async" } });
  expect([answer.status, answer.headers["Retry-After"]]).toEqual([503, "5"]);
});

test("deleting an image frees the place of its job in the queue", async () => {
  const queue = createSharedQueue();
  const site = createSite({ jobQueue: queue.open() });
  const images: { id: string; pin: string }[] = [];
  for (let turn = 0; turn < 3; turn++) {
    images.push(created(await site.create({ headers: { prefer: "respond-async" } })));
  }
  for (const { id, pin } of images) {
    expect((await site.send("DELETE", `/api/images/${id}.json`, { search: `pin=${pin}` })).status).toBe(204);
  }
  await eventually(() => expect(queue.waiting).toEqual([]));
  await site.images.close();
});

test("close closes the queue and returns the running job to it", async () => {
  const queue = createSharedQueue();
  const site = createSite({ jobQueue: queue.open() });
  const id = await createLater(site);
  await site.renderer.next();
  await site.images.close();
  const later = site.another({ jobQueue: queue.open(), renderer: createFakeRenderer(acceptAll) });
  await eventually(async () => expect(await statusOf(later, id)).toBe("ready"));
});
