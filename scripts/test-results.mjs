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
  /** Titles of tests that passed. */
  #passed = new Set();

  /** @param {string} root Directory that paths are shown relative to. */
  constructor(root) {
    this.#root = root;
  }

  /** @param {object[]} suites `testResults` of Vitest's JSON report. */
  add(suites) {
    for (const suite of suites) {
      const { file, failures, passed, skipped } = this.#read(suite);
      for (const title of passed) this.#passed.add(title);
      this.skipped.push(...skipped);
      if (failures.size > 0) this.#failures.set(file, failures);
    }
    this.#sum();
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
        this.secondTime.push(`${title}\n    ${error}`);
      }
      for (const [title, error] of failures) before.set(title, error);
      // A file or hook that failed at first had kept tests from running.
      for (const title of passed) this.#passed.add(title);
    }
    this.#sum();
  }

  #sum() {
    this.failed = [...this.#failures.values()].flatMap((failures) => [...failures.keys()]);
    for (const title of this.failed) this.#passed.delete(title);
    this.skipped = this.skipped.filter((title) => !this.#passed.has(title));
    this.passed = this.#passed.size;
  }

  #read({ name, status, message, assertionResults }) {
    const file = relative(this.#root, name);
    const titles = uniqueTitles(file, assertionResults);
    const title = (test) => titles.get(test);
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

/** Several tests of a file may have the same title: later ones get a number. */
function uniqueTitles(file, tests) {
  const counts = new Map();
  const titles = new Map();
  for (const test of tests) {
    const count = (counts.get(test.fullName) ?? 0) + 1;
    counts.set(test.fullName, count);
    titles.set(test, `${file} > ${test.fullName}${count > 1 ? ` (${count})` : ""}`);
  }
  return titles;
}
