-- Keys and their grants: the tables, and the operations that need no line. Times are microseconds since 1970 by
-- the database's clock; names compare byte for byte. Each operation is one call, and one transaction. `told` is
-- the time by a test's clock, and none otherwise; `own` is the inbox of the process that asks.

-- Kind: 1 lease, 2 semaphore. One row per slot that was ever granted; a slot keeps its row, with its last
-- fence and end, until the whole key is forgotten. Every key has the row of slot 0, held or not: whoever
-- changes anything of a key locks it first.
CREATE TABLE leases_grants (
    kind       smallint NOT NULL,
    name       text     COLLATE "C" NOT NULL,
    slot       integer  NOT NULL,
    holder     bytea,                            -- none: nobody holds it
    owner      text     COLLATE "C",
    note       text     COLLATE "C",
    fence      bigint   NOT NULL DEFAULT 0,      -- of its latest grant
    since      bigint   NOT NULL DEFAULT 0,
    expires_at bigint   NOT NULL DEFAULT 0,      -- when it ends, or ended
    not_after  bigint,
    plain      boolean  NOT NULL DEFAULT true,   -- of slot 0: the key has no line and nobody who left early
    PRIMARY KEY (kind, name, slot)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- Why holders that did not give back no longer hold, until the time at which they would have expired. Loss: 1
-- superseded, 2 revoked; 3 left before it asked: an ask of its that comes late is refused.
CREATE TABLE leases_departed (
    kind       smallint NOT NULL,
    name       text     COLLATE "C" NOT NULL,
    number     bigint   NOT NULL,                -- in the order in which they went
    holder     bytea    NOT NULL,
    loss       smallint NOT NULL,
    until      bigint   NOT NULL,
    PRIMARY KEY (kind, name, number)
);

-- The database's time, or the one that a test tells.
CREATE FUNCTION leases_now(told bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN coalesce(told, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
END $$;

-- Locks a key, which is made if it is not known; answers whether it is plain.
CREATE FUNCTION leases_lock(k smallint, n text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    was_plain boolean;
BEGIN
    LOOP
        SELECT plain INTO was_plain FROM leases_grants
            WHERE kind = k AND name = n AND slot = 0 FOR UPDATE;
        IF FOUND THEN
            RETURN was_plain;
        END IF;
        -- Somebody may have removed its row by hand, and not its line.
        INSERT INTO leases_grants (kind, name, slot, plain) VALUES (k, n, 0,
            NOT EXISTS (SELECT FROM leases_tickets WHERE kind = k AND name = n)
            AND NOT EXISTS (SELECT FROM leases_departed WHERE kind = k AND name = n AND loss = 3))
            ON CONFLICT DO NOTHING;
    END LOOP;
END $$;

-- Why a holder no longer holds; 0 where nothing is known: it expired.
CREATE FUNCTION leases_loss(k smallint, n text, h bytea, now_us bigint) RETURNS smallint
LANGUAGE plpgsql AS $$
BEGIN
    RETURN coalesce((SELECT loss FROM leases_departed
        WHERE kind = k AND name = n AND holder = h AND loss <> 3 AND until > now_us
        ORDER BY number LIMIT 1), 0);
END $$;

-- Remembers why a holder no longer holds, of the last thousand of a key.
CREATE FUNCTION leases_depart(k smallint, n text, h bytea, why smallint, now_us bigint, until_us bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    last bigint;
BEGIN
    SELECT coalesce(max(number), 0) INTO last FROM leases_departed WHERE kind = k AND name = n;
    INSERT INTO leases_departed VALUES (k, n, last + 1, h, why, until_us);
    DELETE FROM leases_departed
        WHERE kind = k AND name = n AND (until <= now_us OR number <= last - 999);
END $$;

-- Ends the live grant of exactly this holder on a key that is locked; says whether there was one.
CREATE FUNCTION leases_end(k smallint, n text, h bytea, now_us bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE leases_grants SET holder = NULL, owner = NULL, note = NULL, expires_at = now_us
        WHERE kind = k AND name = n AND holder = h AND expires_at > now_us;
    RETURN FOUND;
END $$;

-- The lowest slot that nobody holds, also where rows are missing.
CREATE FUNCTION leases_free_slot(k smallint, n text) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT coalesce(min(place) FILTER (WHERE slot <> place), count(*)) FROM (
        SELECT slot, row_number() OVER (ORDER BY slot) - 1 AS place FROM leases_grants
            WHERE kind = k AND name = n AND holder IS NOT NULL) held);
END $$;

-- Refuses an ask of this holder's that may yet come; the key is plain no more.
CREATE FUNCTION leases_refuse(k smallint, n text, h bytea, now_us bigint, late bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM leases_depart(k, n, h, 3::smallint, now_us, now_us + late);
    UPDATE leases_grants SET plain = false WHERE kind = k AND name = n AND slot = 0;
    RETURN false;
END $$;

-- Sets the end of a live grant of exactly this holder to now + lasts, or gives a ticket's sign of life. Code: 1
-- held (until `ends_in`), 2 lost (why in `ends_in`), 3 in line (looks again in `ends_in`, 0: asks now), 4 not
-- in line.
CREATE FUNCTION leases_refresh_one(
    k smallint, n text, h bytea, lasts bigint, is_ticket boolean, own text, told bigint,
    OUT code smallint, OUT ends_in bigint, OUT bounded boolean, OUT woken bytea
) LANGUAGE plpgsql AS $$
DECLARE
    now_us bigint := leases_now(told);
    is_plain boolean;
    mine bigint;
BEGIN
    woken := ''::bytea;
    bounded := false;
    IF NOT is_ticket AND k = 1 THEN
        UPDATE leases_grants SET expires_at = least(now_us + lasts, not_after)
            WHERE kind = k AND name = n AND slot = 0 AND holder = h AND expires_at > now_us AND plain
            RETURNING expires_at - now_us, coalesce(expires_at = not_after, false)
            INTO ends_in, bounded;
        IF FOUND THEN
            code := 1;
            RETURN;
        END IF;
    END IF;
    -- What nobody knows of is not made for a refresh.
    IF NOT EXISTS (SELECT FROM leases_grants WHERE kind = k AND name = n) THEN
        code := CASE WHEN is_ticket THEN 4 ELSE 2 END;
        ends_in := 0;
        RETURN;
    END IF;
    is_plain := leases_lock(k, n);
    now_us := leases_now(told);
    woken := leases_catch_up(k, n, is_plain, now_us, own);
    IF is_ticket THEN
        mine := leases_ticket(k, n, h);
        IF mine IS NULL THEN
            code := 4;
            woken := woken || leases_finish(k, n, is_plain, now_us, own);
            RETURN;
        END IF;
        UPDATE leases_tickets SET lapses_at = now_us + lasts, called_at = NULL, woken = false
            WHERE number = mine;
        UPDATE leases_tickets SET asks_at = now_us + leases_retry_in(k, n, now_us)
            WHERE number = mine;
        woken := woken || leases_settle(k, n, now_us, now_us, own);
        code := 3;
        -- Who is called is told so here too: its wake-up may be lost.
        ends_in := CASE WHEN (SELECT called_at IS NULL FROM leases_tickets WHERE number = mine)
            THEN leases_retry_in(k, n, now_us) ELSE 0 END;
        RETURN;
    END IF;
    UPDATE leases_grants SET expires_at = least(now_us + lasts, not_after)
        WHERE kind = k AND name = n AND holder = h
        RETURNING expires_at - now_us, coalesce(expires_at = not_after, false) INTO ends_in, bounded;
    IF FOUND THEN
        code := 1;
    ELSE
        code := 2;
        ends_in := leases_loss(k, n, h, now_us);
    END IF;
    woken := woken || leases_finish(k, n, is_plain, now_us, own);
END $$;

-- A batch, in the order of its keys, so that two batches never wait for each other; answered by number.
CREATE FUNCTION leases_refresh(
    ks smallint[], ns text[], hs bytea[], lasts bigint[], tickets boolean[], own text, told bigint
) RETURNS TABLE (number bigint, code smallint, ends_in bigint, bounded boolean, woken bytea)
LANGUAGE plpgsql AS $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT * FROM unnest(ks, ns, hs, lasts, tickets) WITH ORDINALITY
        AS asked (k, n, h, lasts, is_ticket, number) ORDER BY asked.n COLLATE "C", asked.k, asked.number
    LOOP
        number := one.number;
        SELECT r.code, r.ends_in, r.bounded, r.woken INTO code, ends_in, bounded, woken
            FROM leases_refresh_one(one.k, one.n, one.h, one.lasts, one.is_ticket, own, told) r;
        RETURN NEXT;
    END LOOP;
END $$;

-- Ends the live grant of exactly this holder. Answers 8 bytes, below zero where it was held, else why it was not
-- (0: it expired); and 16 for each who is woken. With `late`, an ask of this holder's that may yet come is
-- refused until then.
CREATE FUNCTION leases_release(k smallint, n text, h bytea, late bigint, own text, told bigint)
RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
    now_us bigint;
    is_plain boolean;
    loss bigint := -1;
    woken bytea;
BEGIN
    IF late IS NULL AND NOT EXISTS (SELECT FROM leases_grants WHERE kind = k AND name = n) THEN
        RETURN int8send(0);
    END IF;
    is_plain := leases_lock(k, n);
    now_us := leases_now(told);
    woken := leases_catch_up(k, n, is_plain, now_us, own);
    IF NOT leases_end(k, n, h, now_us) THEN
        loss := leases_loss(k, n, h, now_us);
    END IF;
    IF late IS NOT NULL THEN
        is_plain := leases_refuse(k, n, h, now_us, late);
    END IF;
    RETURN int8send(loss) || woken || leases_finish(k, n, is_plain, now_us, own);
END $$;

-- Removes this holder's own ticket and any grant of its that was not delivered.
CREATE FUNCTION leases_leave(
    k smallint, n text, h bytea, late bigint, own text, told bigint, OUT woken bytea
) LANGUAGE plpgsql AS $$
DECLARE
    now_us bigint := leases_now(told);
    is_plain boolean;
    mine bigint;
    first record;
BEGIN
    woken := ''::bytea;
    IF late IS NULL THEN
        SELECT plain, holder INTO first FROM leases_grants
            WHERE kind = k AND name = n ORDER BY slot LIMIT 1;
        IF NOT FOUND AND leases_ticket(k, n, h) IS NULL
            OR k = 1 AND first.plain AND first.holder IS DISTINCT FROM h THEN
            RETURN;
        END IF;
    END IF;
    is_plain := leases_lock(k, n);
    now_us := leases_now(told);
    woken := leases_catch_up(k, n, is_plain, now_us, own);
    mine := leases_ticket(k, n, h);
    DELETE FROM leases_tickets WHERE number = mine;
    PERFORM leases_end(k, n, h, now_us);
    IF late IS NOT NULL THEN
        is_plain := leases_refuse(k, n, h, now_us, late);
    END IF;
    woken := woken || leases_finish(k, n, is_plain, now_us, own);
END $$;

-- Ends the grant in one slot, or all of them; answers how many.
CREATE FUNCTION leases_revoke(
    k smallint, n text, only_slot integer, own text, told bigint, OUT revoked bigint, OUT woken bytea
) LANGUAGE plpgsql AS $$
DECLARE
    now_us bigint;
    is_plain boolean;
    victim record;
BEGIN
    woken := ''::bytea;
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
        revoked := revoked + 1;
    END LOOP;
    woken := woken || leases_finish(k, n, is_plain, now_us, own);
END $$;

-- Looks at the next keys behind (k, n), so many, and forgets those that nobody holds or waits for and that ended
-- the retention time ago; not before the clock is past the last fence. Answers the last one it looked at, none
-- at the end.
CREATE FUNCTION leases_forget_keys(
    INOUT k smallint, INOUT n text, many integer, retention bigint, told bigint
) LANGUAGE plpgsql AS $$
DECLARE
    now_us bigint := leases_now(told);
    looked integer := 0;
    one record;
BEGIN
    FOR one IN SELECT kind, name, expires_at FROM leases_grants
        WHERE slot = 0 AND (kind, name) > (k, n) ORDER BY kind, name LIMIT many
    LOOP
        looked := looked + 1;
        k := one.kind;
        n := one.name;
        CONTINUE WHEN one.expires_at + retention > now_us;
        PERFORM FROM leases_grants WHERE kind = k AND name = n AND slot = 0 FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND
            OR EXISTS (SELECT FROM leases_grants WHERE kind = k AND name = n
                AND (expires_at + retention > now_us OR fence >= now_us))
            OR EXISTS (SELECT FROM leases_tickets WHERE kind = k AND name = n AND lapses_at > now_us)
            OR EXISTS (SELECT FROM leases_departed WHERE kind = k AND name = n AND until > now_us);
        DELETE FROM leases_tickets WHERE kind = k AND name = n;
        DELETE FROM leases_departed WHERE kind = k AND name = n;
        DELETE FROM leases_grants WHERE kind = k AND name = n;
    END LOOP;
    IF looked < many THEN
        k := NULL;
        n := NULL;
    END IF;
END $$;
