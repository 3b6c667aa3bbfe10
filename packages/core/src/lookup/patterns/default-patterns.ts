/** A pattern, and how often addresses of a domain that nothing is known of are formed so. */
export interface PatternShare {
  /** Of `{first}`, `{last}`, `{f}`, `{l}` and literal text. */
  pattern: string;
  /** From 0 to 1; what is missing to 1 in a list is the share of addresses that none of it forms. */
  share: number;
}

/**
 * Base rates, the most frequent first; where an address can be read in several ways, the earlier one is the simpler. Their
 * sources are in docs/lookup-names.md.
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
