export const MIGRATE_HELP = `
Copies originals, records, renditions and everything else, and reads back and compares what it has written. It may be
ended at any time and run again: it goes on where it was. Run again after its end, it brings what has changed at the
source since, and removes from the target what the source does not have any more; so a server may go on while most is
copied, and has to be stopped for the last run only. A server refuses a target that is not whole, and one that has
started on it ends the migration.

Storage is written as in OUTRIGGER_STORAGE: a URL that begins with file:, redis:, rediss: or s3:, or JSON
{"records": "redis://…", "originals": "s3://…", "renditions": "s3://…"}.

PINs are derived from a secret. A directory keeps it, Redis and S3 keep none: --secret-file writes it to a file of mode
0600, which the new server is given as OUTRIGGER_SECRET_FILE. Secrets of the configuration and the environment
(OUTRIGGER_SECRET, OUTRIGGER_SECRET_FILE) are known, too.

Examples:
  outrigger migrate --from file:./data --to redis://127.0.0.1:6379 --secret-file ./secret
  outrigger migrate --from file:./data --to "s3://pictures/outrigger?region=eu-central-1" --secret-file ./secret
  outrigger migrate --from redis://127.0.0.1:6379 --to file:./data --verify

Exit codes: 0 the target is whole, 1 it is not, or the source is damaged, 2 wrong usage or configuration, 130 ended by a
signal after what was under way; a second signal ends it at once.
`;
