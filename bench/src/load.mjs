import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

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
 * @property {readonly string[]} [addresses] The clients' own, 127.0.0.x, in turn. Absent: 127.0.0.1.
 */

/** @typedef {{ sent: number, latenciesMs: number[] }} JobResult `latenciesMs`: how long each request took. */

/**
 * The client's process. It runs one job at a time. Every answer is checked: a wrong one fails the job.
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
  const exit = once(child, "exit");
  const run = async (/** @type {Job} */ job) => {
    child.send({ job });
    const [answer] = await Promise.race([once(child, "message"), exit]);
    const { result, error = "The client ended" } = Object(answer);
    if (result === undefined) throw new Error(error);
    return result;
  };
  return {
    run,
    start(job) {
      const result = run({ ...job, count: Number.POSITIVE_INFINITY });
      // The failure is reported to the caller of `stop`.
      result.catch(() => {});
      return {
        stop() {
          child.send({ stop: true });
          return result;
        },
      };
    },
    close: () => child.disconnect(),
  };
}
