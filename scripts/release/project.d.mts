export interface Project {
  repository: string | null;
  homepage: string | null;
}
export function problemsOfProject(project: Project): string[];
