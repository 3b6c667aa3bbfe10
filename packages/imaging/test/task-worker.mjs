/** A worker whose tasks select how it behaves, for worker-pool.long.test.ts. */
import { setTimeout } from "node:timers/promises";

const hoard = [];
const rss = () => process.memoryUsage.rss();
const usage = (before) => {
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, residentBytes: rss() };
};
const tell = (message) => process.send(message);

async function perform(task) {
  if (task.do === "answer") return { pid: process.pid, value: task.value };
  if (task.do === "answer later") return await setTimeout(task.ms, { pid: process.pid, value: task.value });
  if (task.do === "refuse")
    return Promise.reject(Object.assign(new Error(task.message), { code: task.code }));
  if (task.do === "compute") {
    const before = process.cpuUsage();
    while (process.cpuUsage(before).user < task.cpuMs * 1000);
    return { pid: process.pid };
  }
  if (task.do === "raise") process.kill(process.pid, task.signal);
  if (task.do === "exit") process.exit(task.code);
  if (task.do === "hold memory") {
    const startedAt = Date.now();
    const held = Buffer.alloc(task.bytes, 1);
    await setTimeout(task.ms);
    return { pid: process.pid, value: task.value, startedAt, endedAt: Date.now(), held: held.length };
  }
  if (task.do === "take memory") {
    hoard.push(Buffer.alloc(task.bytes, 1));
    if (task.thenAnswer) return { pid: process.pid };
  }
  return await new Promise(() => {});
}

process.on("disconnect", () => process.exit());
process.on("message", (task) => {
  const before = process.cpuUsage();
  perform(task).then(
    (result) => tell({ kind: "done", result, ...usage(before) }),
    ({ code = "memory", message }) => tell({ kind: "failed", code, message, detail: "", ...usage(before) }),
  );
});
tell({ kind: "ready" });
