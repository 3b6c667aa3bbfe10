/**
 * The time that all but one share of the jobs wait at most, in a queue that several workers serve: Erlang's C formula for
 * M/M/c, with the correction of Allen and Cunneen for other service times (A. O. Allen, Probability, Statistics, and
 * Queueing Theory, 1990, section 5.3).
 * @param {object} queue
 * @param {number} queue.workers
 * @param {number} queue.utilization Below 1.
 * @param {number} queue.serviceSeconds Mean of a job.
 * @param {number} queue.variation Squared coefficient of variation of the service times; 1: exponential.
 * @param {number} queue.share Of the jobs, that may wait longer.
 */
export function waitSeconds({ workers, utilization, serviceSeconds, variation, share }) {
  const waiting = erlangC(workers, workers * utilization);
  if (waiting <= share) return 0;
  const spareRate = (workers * (1 - utilization)) / serviceSeconds;
  return ((Math.log(waiting / share) / spareRate) * (1 + variation)) / 2;
}

/**
 * The probability that a job waits.
 * @param {number} workers
 * @param {number} load Work that arrives, in workers.
 */
export function erlangC(workers, load) {
  // Erlang's B formula, by recursion.
  let blocked = 1;
  for (let worker = 1; worker <= workers; worker++) blocked = (load * blocked) / (worker + load * blocked);
  return blocked / (1 - (load / workers) * (1 - blocked));
}
