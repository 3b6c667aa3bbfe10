import { relative } from "node:path";

/** Counts the results of a run of Vitest, and of a second attempt of the files that failed in it. */
export class TestResults {
  passed = 0;
  /** Titles, each with its file. */
  failed = [];
  skipped = [];
  /** Titles of tests that failed at first and then passed, each with the error of the first attempt. */
  secondTime = [];
  failedAtFirst = 0;

  #root;
  /** What failed at first: by file and title, the first line of the error. */
  #failures = new Map();

  /** @param {string} root Directory that paths are shown relative to. */
  constructor(root) {
    this.#root = root;
  }

  /** @param {object[]} suites `testResults` of Vitest's JSON report. */
  add(suites) {
    for (const suite of suites) {
      const { file, failures, passed, skipped } = this.#read(suite);
      this.passed += passed.length;
      this.skipped.push(...skipped);
      if (failures.size > 0) this.#failures.set(file, failures);
    }
    this.failed = [...this.#failures.values()].flatMap((failures) => [...failures.keys()]);
    this.failedAtFirst = this.failed.length;
  }

  /** Paths relative to the root. */
  failedFiles() {
    return [...this.#failures.keys()];
  }

  /** @param {object[]} suites As for `add`, of the files that failed alone. A file without a result stays failed. */
  repeat(suites) {
    for (const suite of suites) {
      const { file, failures, passed } = this.#read(suite);
      const before = this.#failures.get(file);
      if (before === undefined) continue;
      for (const [title, error] of before) {
        // The title of a file stands for its hooks and its loading.
        const isGood = title === file ? failures.size === 0 : passed.includes(title);
        if (!isGood) continue;
        before.delete(title);
        this.passed += title === file ? 0 : 1;
        this.secondTime.push(`${title}\n    ${error}`);
      }
      for (const [title, error] of failures) before.set(title, error);
    }
    this.failed = [...this.#failures.values()].flatMap((failures) => [...failures.keys()]);
  }

  #read({ name, status, message, assertionResults }) {
    const file = relative(this.#root, name);
    const title = (test) => `${file} > ${test.fullName}`;
    const withStatus = (status) => assertionResults.filter((test) => test.status === status);
    const failures = new Map(
      withStatus("failed").map((test) => [title(test), firstLine(test.failureMessages?.[0])]),
    );
    // A file that could not be loaded, or a hook that failed.
    if (status === "failed" && failures.size === 0) failures.set(file, firstLine(message));
    const others = assertionResults.filter((test) => !["passed", "failed"].includes(test.status));
    return { file, failures, passed: withStatus("passed").map(title), skipped: others.map(title) };
  }
}

function firstLine(text = "") {
  return text.split("\n", 1)[0];
}
