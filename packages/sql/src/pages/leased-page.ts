/** A page that was found and not read yet. */
export interface FoundPage {
  /** Equal for all spellings of one page. */
  key: string;
  url: string;
  isSitemap: boolean;
  /** Links from the first page. */
  depth: number;
  /** Pages of a low rank are read first. 0, of which a domain has one, to 9. */
  rank: number;
}

/** A page that this process reads until its lease ends. */
export interface LeasedPage extends FoundPage {
  seq: number;
  domain: string;
  /** The source of its contacts; `null` if it was never read. */
  uri: string | null;
  /** The validators of the last reply, and the SHA-256 of what it contained. */
  etag: string | null;
  modified: string | null;
  digest: string | null;
  /** Days between two visits. */
  intervalDays: number;
  /** Visits since the page existed. */
  misses: number;
  /** Attempts since it was last read or missing. */
  failures: number;
  leasedUntilMs: number;
}

export interface PageRow {
  seq: number;
  domain: string;
  page_key: string;
  url: string;
  uri: string | null;
  is_sitemap: number;
  depth: number;
  rank: number;
  interval_days: number;
  misses: number;
  failures: number;
  etag: string | null;
  modified: string | null;
  digest: string | null;
}

/** Parameters 1 and 2 of {@link leaseOf}. Without a row, another process has the page. */
export const LEASED = "seq = $1 AND due_at = $2 AND is_leased = 1";
export const leaseOf = ({ seq, leasedUntilMs }: LeasedPage): [number, number] => [seq, leasedUntilMs];

export function pageOf(
  { page_key: key, is_sitemap, interval_days, ...row }: PageRow,
  leasedUntilMs: number,
): LeasedPage {
  const { seq, domain, url, uri, depth, rank, etag, modified, digest, misses, failures } = row;
  return {
    ...{ seq, domain, key, url, uri, depth, rank, etag, modified, digest, misses, failures, leasedUntilMs },
    isSitemap: is_sitemap === 1,
    intervalDays: interval_days,
  };
}
