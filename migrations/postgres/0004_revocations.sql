-- Telling whose holds were revoked: to every process that listens, on one channel. A holder id is of use to nobody
-- once its grant has ended, and nobody who has not seen one can make one up.

-- Ends the grant in one slot, or all of them; answers how many, who of this process is woken, and whose they were:
-- 16 bytes each.
DROP FUNCTION leases_revoke(smallint, text, integer, text, bigint);
CREATE FUNCTION leases_revoke(
    k smallint, n text, only_slot integer, own text, told bigint,
    OUT revoked bigint, OUT woken bytea, OUT ended bytea
) LANGUAGE plpgsql AS $$
DECLARE
    now_us bigint;
    is_plain boolean;
    victim record;
BEGIN
    woken := ''::bytea;
    ended := ''::bytea;
    revoked := 0;
    IF NOT EXISTS (SELECT FROM leases_grants WHERE kind = k AND name = n) THEN
        RETURN;
    END IF;
    is_plain := leases_lock(k, n);
    now_us := leases_now(told);
    woken := leases_catch_up(k, n, is_plain, now_us, own);
    FOR victim IN SELECT slot, holder, expires_at FROM leases_grants
        WHERE kind = k AND name = n AND holder IS NOT NULL AND slot = coalesce(only_slot, slot)
    LOOP
        PERFORM leases_depart(k, n, victim.holder, 2::smallint, now_us, victim.expires_at);
        PERFORM leases_end(k, n, victim.holder, now_us);
        PERFORM pg_notify('leases:revoked', encode(victim.holder, 'hex'));
        ended := ended || victim.holder;
        revoked := revoked + 1;
    END LOOP;
    woken := woken || leases_finish(k, n, is_plain, now_us, own);
END $$;
