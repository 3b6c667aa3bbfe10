import type { Problem } from "./problem.ts";

/** A refusal without a ServiceError code: expired resources, preconditions, limits. */
export class HttpProblem extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = "HttpProblem";
    this.problem = problem;
  }
}
