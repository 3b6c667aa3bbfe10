/**
 * Reserves points in one round trip. It locks the row of the account, month and kind, so the next caller sees
 * the reservation.
 * It is a function because its statements see data committed while it waited for the lock; one large
 * statement would not.
 */
export const POSTGRES_RESERVE = `
CREATE FUNCTION lookup_reserve(
  of_account text, of_month text, of_kind text, of_request text,
  wanted integer, allowance integer, now_ms bigint, lapsed_ms bigint, forget_before text
) RETURNS TABLE (outcome text, granted integer) LANGUAGE plpgsql AS $body$
DECLARE
  used bigint;
  known record;
BEGIN
  INSERT INTO lookup_usage (account, month, kind, settled) VALUES (of_account, of_month, of_kind, 0)
    ON CONFLICT DO NOTHING;
  IF FOUND THEN
    DELETE FROM lookup_charges c WHERE c.account = of_account AND c.month < forget_before
      AND (c.reserved_at IS NULL OR c.reserved_at <= lapsed_ms);
  END IF;
  SELECT u.settled INTO used FROM lookup_usage u
    WHERE u.account = of_account AND u.month = of_month AND u.kind = of_kind FOR UPDATE;
  SELECT c.points, c.reserved_at INTO known FROM lookup_charges c
    WHERE c.account = of_account AND c.month = of_month AND c.kind = of_kind AND c.request = of_request;
  IF FOUND AND (known.reserved_at IS NULL OR known.reserved_at > lapsed_ms) THEN
    RETURN QUERY SELECT 'repeat', known.points;
    RETURN;
  END IF;
  SELECT used + coalesce(sum(c.points), 0) INTO used FROM lookup_charges c
    WHERE c.account = of_account AND c.month = of_month AND c.kind = of_kind
      AND c.reserved_at IS NOT NULL AND c.reserved_at > lapsed_ms;
  IF used >= allowance THEN
    RETURN QUERY SELECT 'exhausted', 0;
    RETURN;
  END IF;
  INSERT INTO lookup_charges AS c (account, month, kind, request, points, reserved_at)
    VALUES (of_account, of_month, of_kind, of_request, least(wanted, allowance - used), now_ms)
    ON CONFLICT (account, month, kind, request)
    DO UPDATE SET points = excluded.points, reserved_at = excluded.reserved_at;
  RETURN QUERY SELECT 'reserved', least(wanted, allowance - used)::integer;
END
$body$`;

export const POSTGRES_SETTLE = `
CREATE FUNCTION lookup_settle(of_account text, of_month text, of_kind text, of_request text, cost integer)
RETURNS void LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM 1 FROM lookup_usage u
    WHERE u.account = of_account AND u.month = of_month AND u.kind = of_kind FOR UPDATE;
  IF cost = 0 THEN
    DELETE FROM lookup_charges c WHERE c.account = of_account AND c.month = of_month AND c.kind = of_kind
      AND c.request = of_request AND c.reserved_at IS NOT NULL;
    RETURN;
  END IF;
  UPDATE lookup_charges c SET points = cost, reserved_at = NULL
    WHERE c.account = of_account AND c.month = of_month AND c.kind = of_kind
      AND c.request = of_request AND c.reserved_at IS NOT NULL;
  IF FOUND THEN
    UPDATE lookup_usage u SET settled = u.settled + cost
      WHERE u.account = of_account AND u.month = of_month AND u.kind = of_kind;
  END IF;
END
$body$`;
