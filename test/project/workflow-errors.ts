import { register } from "node:module";

// The package is made for bundlers: it imports its schema, a JSON file, without the attribute that Node requires.
const hook = `export const load = (url, context, next) =>
  next(url, url.endsWith(".min.json") ? { ...context, importAttributes: { type: "json" } } : context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
const parser = await import("@actions/workflow-parser");

/** What GitHub's own parser finds wrong with a workflow. */
export async function workflowErrors(name: string, content: string): Promise<string[]> {
  const { context, value } = parser.parseWorkflow({ name, content }, new parser.NoOperationTraceWriter());
  if (value !== undefined) await parser.convertWorkflowTemplate(context, value);
  return context.errors.getErrors().map(({ message }) => message);
}
