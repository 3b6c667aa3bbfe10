import type { Problem } from "./problem.ts";

/** A refusal that no ServiceError code stands for: the life of a resource, preconditions, limits. */
export class HttpProblem extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = "HttpProblem";
    this.problem = problem;
  }
}
