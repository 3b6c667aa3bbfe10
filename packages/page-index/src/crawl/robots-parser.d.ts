// Its own declarations describe an ES module, which it is not.
declare module "robots-parser" {
  interface ParsedRobots {
    isAllowed(url: string, agent: string): boolean | undefined;
    getCrawlDelay(agent: string): number | undefined;
    getSitemaps(): string[];
  }
  export default function parseRobots(url: string, text: string): ParsedRobots;
}
