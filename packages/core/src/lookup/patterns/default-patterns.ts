/** A pattern, and its share of addresses at domains without known addresses. */
export interface PatternShare {
  /** Made of `{first}`, `{last}`, `{f}`, `{l}` and literal text. */
  pattern: string;
  /**
   * From 0 to 1; in a list, the difference to 1 is the share of addresses that none of its patterns forms.
   */
  share: number;
}

/**
 * Base rates, most frequent first. If an address can be read in several ways, the earlier pattern is the
 * simpler one. The sources are in docs/lookup.md.
 */
export const DEFAULT_PATTERNS: readonly PatternShare[] = [
  { pattern: "{first}.{last}", share: 0.43 },
  { pattern: "{f}{last}", share: 0.2 },
  { pattern: "{first}", share: 0.12 },
  { pattern: "{f}.{last}", share: 0.04 },
  { pattern: "{first}{last}", share: 0.04 },
  { pattern: "{first}{l}", share: 0.03 },
  { pattern: "{last}", share: 0.02 },
  { pattern: "{first}_{last}", share: 0.015 },
  { pattern: "{last}.{first}", share: 0.012 },
  { pattern: "{last}{f}", share: 0.012 },
  { pattern: "{f}{l}", share: 0.008 },
  { pattern: "{first}.{l}", share: 0.008 },
  { pattern: "{first}-{last}", share: 0.008 },
  { pattern: "{last}{first}", share: 0.007 },
];
