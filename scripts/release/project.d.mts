export interface Project {
  repository: string | null;
  homepage: string | null;
  securityContact: string | null;
}
export function readProject(root: string): Project;
export function problemsOfProject(project: Project): string[];
