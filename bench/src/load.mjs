import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** A reading speed: after `bytes` the client waits until `everyMs` have passed. @typedef {{ bytes: number, everyMs: number }} Pace */

/**
 * @typedef {object} JobRequest
 * @property {string} [method] Default: GET.
 * @property {string} path With the query.
 * @property {Record<string, string>} [headers]
 * @property {string} [bodyFile] Path of a file that holds the body.
 * @property {number | readonly number[]} status The required status, or the allowed ones.
 * @property {number} [length] Required bytes of the answer's body. Absent: any.
 */

/**
 * @typedef {object} Job
 * @property {number} port
 * @property {readonly JobRequest[]} requests Sent in turn, from the first again after the last.
 * @property {number} count
 * @property {number} connections Each sends its next request when the one before is answered.
 * @property {number} [everyMs] Sends one request each time this is over.
 * @property {Pace} [pace] Reads slowly.
 * @property {readonly string[]} [addresses] The clients' own, 127.0.0.x, in turn. Absent: 127.0.0.1.
 */

/** @typedef {{ sent: number, latenciesMs: number[] }} JobResult `latenciesMs`: how long each request took. */

/**
 * The client's process. Every answer is checked: a wrong one fails the job.
 * @typedef {object} Load
 * @property {(job: Job) => Promise<JobResult>} run
 * @property {(job: Omit<Job, "count">) => { stop(): Promise<JobResult> }} start Runs until stopped.
 * @property {() => void} close
 */

/** @returns {Load} */
export function startLoad() {
  const child = fork(fileURLToPath(new URL("load-child.mjs", import.meta.url)), {
    serialization: "advanced",
  });
  /** @type {Map<number, { resolve(result: JobResult): void, reject(error: Error): void }>} */
  const running = new Map();
  let lastId = 0;

  child.on("message", (/** @type {{ id: number, result?: JobResult, error?: string }} */ message) => {
    const job = running.get(message.id);
    running.delete(message.id);
    if (message.result !== undefined) job?.resolve(message.result);
    else job?.reject(new Error(message.error));
  });
  child.on("exit", (code, signal) => {
    for (const job of running.values()) job.reject(new Error(`The client ended: ${code ?? signal}`));
    running.clear();
  });

  /** @param {Job} job */
  const begin = (job) => {
    const id = ++lastId;
    /** @type {Promise<JobResult>} */
    const result = new Promise((resolve, reject) => running.set(id, { resolve, reject }));
    child.send({ id, job });
    return { id, result };
  };
  return {
    run: (job) => begin(job).result,
    start(job) {
      const { id, result } = begin({ ...job, count: Number.POSITIVE_INFINITY });
      // The failure is reported to the caller of `stop`.
      result.catch(() => {});
      return {
        stop() {
          child.send({ id, stop: true });
          return result;
        },
      };
    },
    close: () => child.disconnect(),
  };
}
