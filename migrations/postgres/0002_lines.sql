-- The lines: the table, the rules of who is called, and asking. A rule runs where the key's row of slot 0 is
-- locked, in a statement of its own: it sees all that was committed before.

-- The lines. A place is found by its number.
CREATE TABLE leases_tickets (
    number     bigint   GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind       smallint NOT NULL,
    name       text     COLLATE "C" NOT NULL,
    holder     bytea    NOT NULL,
    places     integer  NOT NULL,                -- the limit under which it waits
    owner      text     COLLATE "C",
    note       text     COLLATE "C",
    since      bigint   NOT NULL,
    lapses_at  bigint   NOT NULL,
    called_at  bigint,                           -- when it could be admitted and was told so
    asks_at    bigint   NOT NULL,                -- when it was last told to ask again
    inbox      text     COLLATE "C" NOT NULL,    -- of its process: the channel by which it is told
    woken      boolean  NOT NULL DEFAULT false   -- told to ask now, and has not asked since
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
-- Each way to tickets is written so that one of these serves it, whatever the planner believes of the table.
CREATE INDEX leases_tickets_line ON leases_tickets (kind, name, number);
CREATE INDEX leases_tickets_holder ON leases_tickets (holder);
CREATE INDEX leases_tickets_lapses ON leases_tickets (kind, name, lapses_at);
CREATE INDEX leases_tickets_called ON leases_tickets (kind, name, called_at) WHERE called_at IS NOT NULL;
CREATE INDEX leases_tickets_woken ON leases_tickets (inbox) WHERE woken;

-- The number of a holder's ticket, if it has one. By its holder alone: few keys have one of the same.
CREATE FUNCTION leases_ticket(k smallint, n text, h bytea) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT number FROM leases_tickets WHERE holder = h AND kind + 0 = k AND name || '' = n);
END $$;

-- Asks. Answers 8 bytes where that says all: above zero the fence of a lease granted as it was asked for, else, with
-- the sign changed, in how many microseconds a busy key could be free. Else what leases_ask_locked answers,
-- packed: 8 bytes each, and 16 for each of `woken`.
CREATE FUNCTION leases_ask(
    k smallint, n text, h bytea, places integer, o text, what text, ttl bigint, max_hold bigint,
    patience bigint, own text, told bigint
) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
    now_us bigint := leases_now(told);
    retry_in bigint;
    granted bigint;
    held record;
    a record;
BEGIN
    IF k = 1 THEN
        UPDATE leases_grants SET
            holder = h, owner = o, note = what, fence = greatest(fence + 1, now_us), since = now_us,
            expires_at = now_us + least(ttl, max_hold), not_after = now_us + max_hold
            WHERE kind = k AND name = n AND slot = 0
                AND plain AND (holder IS NULL OR expires_at <= now_us)
            RETURNING fence INTO granted;
        IF FOUND THEN
            RETURN int8send(granted);
        END IF;
        SELECT holder, owner, expires_at INTO held FROM leases_grants
            WHERE kind = k AND name = n AND slot = 0;
        IF NOT FOUND THEN
            -- Not where somebody removed its row by hand, and not its line.
            INSERT INTO leases_grants
                (kind, name, slot, holder, owner, note, fence, since, expires_at, not_after)
                SELECT k, n, 0, h, o, what, now_us, now_us,
                    now_us + least(ttl, max_hold), now_us + max_hold
                WHERE NOT EXISTS (SELECT FROM leases_tickets WHERE kind = k AND name = n)
                    AND NOT EXISTS (SELECT FROM leases_departed
                        WHERE kind = k AND name = n AND loss = 3)
                ON CONFLICT DO NOTHING;
            IF FOUND THEN
                RETURN int8send(now_us);
            END IF;
        -- One that is held by another: a refusal takes no lock and writes nothing.
        ELSIF patience IS NULL AND held.expires_at > now_us AND held.holder <> h
            AND (o IS NULL OR held.owner IS DISTINCT FROM o) THEN
            retry_in := leases_retry_in(k, n, now_us);
        END IF;
    ELSIF patience IS NULL THEN
        retry_in := leases_full(k, n, h, places, o, now_us);
    END IF;
    IF retry_in IS NOT NULL THEN
        RETURN int8send(-retry_in);
    END IF;
    SELECT * INTO a FROM leases_ask_locked(
        k, n, h, places, o, what, ttl, max_hold, patience, own, told);
    RETURN int8send(a.code) || int8send(coalesce(a.slot, 0)) || int8send(coalesce(a.fence, 0))
        || int8send(coalesce(a.ends_in, 0)) || int8send(coalesce(a.bounded, false)::integer) || a.woken;
END $$;

-- Whether a semaphore surely refuses this ask and nothing of it is to be changed, read without a lock; answers
-- when to look again, or none where it has to be asked under the lock.
CREATE FUNCTION leases_full(k smallint, n text, h bytea, places integer, o text, now_us bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    claim CONSTANT bigint := 1000000;
    held record;
    line record;
BEGIN
    SELECT count(*) AS live, min(expires_at) AS earliest, bool_or(holder = h OR owner = o) AS own
        INTO held FROM leases_grants WHERE kind = k AND name = n AND holder IS NOT NULL;
    IF held.live = 0 OR coalesce(held.own, false) OR held.earliest <= now_us THEN
        RETURN NULL;
    END IF;
    SELECT count(*) AS waiters, bool_or(lapses_at <= now_us OR called_at + claim <= now_us) AS moved,
            bool_or(called_at IS NULL) AS blocked, bool_or(holder = h) AS own,
            min(least(lapses_at, called_at + claim)) AS earliest
        INTO line FROM leases_tickets WHERE kind = k AND name = n;
    IF coalesce(line.moved OR line.own, false)
        OR (held.live + line.waiters < places AND NOT coalesce(line.blocked, false)) THEN
        RETURN NULL;
    END IF;
    RETURN least(held.earliest, line.earliest) - now_us;
END $$;

-- Asks under the key's lock, by the rules. Code: 1 granted (slot, fence, ends in, bounded by its max-hold), 2
-- waiting (position in `slot`, looks again in `ends_in`), 3 busy (could be free in `ends_in`), 4 the line is full.
-- `woken`: see leases_tell.
CREATE FUNCTION leases_ask_locked(
    k smallint, n text, h bytea, places integer, o text, what text, ttl bigint, max_hold bigint,
    patience bigint, own text, told bigint,
    OUT code smallint, OUT slot integer, OUT fence bigint, OUT ends_in bigint, OUT bounded boolean,
    OUT woken bytea
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    claim CONSTANT bigint := 1000000;
    line_max CONSTANT bigint := 10000;
    is_plain boolean := leases_lock(k, n);
    now_us bigint := leases_now(told);
    last record;
    former record;
    ticket record;
    mine bigint;
    taken bigint;
    in_front bigint;
BEGIN
    woken := leases_catch_up(k, n, is_plain, now_us, own);
    IF NOT is_plain AND EXISTS (SELECT FROM leases_departed d
        WHERE d.kind = k AND d.name = n AND d.holder = h AND d.loss = 3 AND d.until > now_us) THEN
        -- It left before this ask of its came.
        code := 3;
        ends_in := 0;
        RETURN;
    END IF;

    -- The same ask again gets the same grant again.
    UPDATE leases_grants g SET expires_at = least(now_us + ttl, g.not_after)
        WHERE g.kind = k AND g.name = n AND g.holder = h
        RETURNING g.slot, g.fence, g.expires_at - now_us, coalesce(g.expires_at = g.not_after, false)
        INTO slot, fence, ends_in, bounded;
    IF FOUND THEN
        code := 1;
        woken := woken || leases_finish(k, n, is_plain, now_us, own);
        RETURN;
    END IF;

    SELECT count(*) FILTER (WHERE g.holder IS NOT NULL) AS live, max(g.fence) AS fence,
            min(g.slot) FILTER (WHERE g.holder IS NULL) AS free, max(g.slot) + 1 AS beyond,
            count(*) AS slots
        INTO last FROM leases_grants g WHERE g.kind = k AND g.name = n;
    taken := last.live;
    -- The same owner takes its own grant again, in the same slot.
    IF o IS NOT NULL THEN
        SELECT g.slot, g.holder, g.expires_at INTO former FROM leases_grants g
            WHERE g.kind = k AND g.name = n AND g.holder IS NOT NULL AND g.owner = o LIMIT 1;
        IF FOUND THEN
            PERFORM leases_depart(k, n, former.holder, 1::smallint, now_us, former.expires_at);
            slot := former.slot;
        END IF;
    END IF;
    IF NOT is_plain THEN
        mine := leases_ticket(k, n, h);
    END IF;
    IF slot IS NULL AND taken < places THEN
        -- Everybody in front counts, and could be admitted now under a limit of its own.
        IF NOT is_plain THEN
            FOR ticket IN SELECT t.places FROM leases_tickets t
                WHERE t.kind = k AND t.name = n AND t.number < coalesce(mine, 9223372036854775807)
                    AND (t.called_at IS NULL OR t.called_at + claim > now_us)
                ORDER BY t.number
            LOOP
                IF taken >= ticket.places THEN
                    taken := places;
                END IF;
                taken := taken + 1;
                EXIT WHEN taken >= places;
            END LOOP;
        END IF;
        IF taken < places THEN
            slot := coalesce(last.free, last.beyond);
            IF last.slots < last.beyond THEN
                slot := leases_free_slot(k, n); -- Somebody removed a row by hand.
            END IF;
        END IF;
    END IF;

    IF slot IS NOT NULL THEN
        fence := greatest(last.fence + 1, now_us);
        ends_in := least(ttl, max_hold);
        bounded := coalesce(max_hold <= ttl, false);
        INSERT INTO leases_grants AS g
            (kind, name, slot, holder, owner, note, fence, since, expires_at, not_after)
            VALUES (k, n, slot, h, o, what, fence, now_us, now_us + ends_in, now_us + max_hold)
            ON CONFLICT (kind, name, slot) DO UPDATE SET
                holder = excluded.holder, owner = excluded.owner, note = excluded.note,
                fence = excluded.fence, since = excluded.since, expires_at = excluded.expires_at,
                not_after = excluded.not_after;
        code := 1;
        IF NOT is_plain THEN
            DELETE FROM leases_tickets t WHERE t.number = mine;
            woken := woken || leases_finish(k, n, is_plain, now_us, own);
            -- The waiters of the owner that now holds are let in, whoever is before them.
            FOR ticket IN UPDATE leases_tickets t SET woken = true
                WHERE t.kind = k AND t.name = n AND t.owner = o RETURNING t.holder, t.inbox
            LOOP
                woken := woken || leases_tell(ticket.holder, ticket.inbox, own);
            END LOOP;
        END IF;
        RETURN;
    END IF;

    IF patience IS NULL THEN
        code := 3;
        ends_in := leases_retry_in(k, n, now_us);
        woken := woken || leases_finish(k, n, is_plain, now_us, own);
        RETURN;
    END IF;
    -- Joins the line, or stays in it.
    SELECT count(*) INTO in_front FROM leases_tickets t
        WHERE t.kind = k AND t.name = n AND t.number < coalesce(mine, 9223372036854775807);
    IF mine IS NULL AND in_front >= line_max THEN
        code := 4;
        woken := woken || leases_finish(k, n, is_plain, now_us, own);
        RETURN;
    END IF;
    code := 2;
    slot := in_front;
    IF mine IS NOT NULL THEN
        UPDATE leases_tickets t SET lapses_at = now_us + patience, called_at = NULL, woken = false
            WHERE t.number = mine;
    ELSE
        INSERT INTO leases_tickets AS t
            (kind, name, holder, places, owner, note, since, lapses_at, asks_at, inbox)
            VALUES (k, n, h, places, o, what, now_us, now_us + patience, now_us, own)
            RETURNING t.number INTO mine;
    END IF;
    IF is_plain THEN
        UPDATE leases_grants g SET plain = false WHERE g.kind = k AND g.name = n AND g.slot = 0;
    END IF;
    ends_in := leases_retry_in(k, n, now_us);
    UPDATE leases_tickets t SET asks_at = now_us + ends_in WHERE t.number = mine;
    woken := woken || leases_settle(k, n, now_us, now_us, own);
END $$;

-- The earliest moment at which a hold ends, a ticket lapses or one that was called stops holding up others, in
-- microseconds from now; 0 where nothing is ahead.
CREATE FUNCTION leases_retry_in(k smallint, n text, now_us bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    claim CONSTANT bigint := 1000000;
    earliest bigint;
BEGIN
    SELECT least(
        (SELECT min(expires_at) FROM leases_grants
            WHERE kind = k AND name = n AND holder IS NOT NULL AND expires_at > now_us),
        (SELECT lapses_at FROM leases_tickets
            WHERE kind = k AND name = n AND lapses_at > now_us ORDER BY lapses_at LIMIT 1),
        (SELECT called_at + claim FROM leases_tickets
            WHERE kind = k AND name = n AND called_at > now_us - claim ORDER BY called_at LIMIT 1)
    ) INTO earliest;
    RETURN greatest(coalesce(earliest - now_us, 0), 0);
END $$;

-- What time alone does: what ended or lapsed is gone, and who can be admitted by that is called as of the last
-- of those ends. A plain key has no line.
CREATE FUNCTION leases_catch_up(k smallint, n text, is_plain boolean, now_us bigint, own text)
RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
    ended_at bigint;
BEGIN
    WITH ended AS (
        UPDATE leases_grants SET holder = NULL, owner = NULL, note = NULL
            WHERE kind = k AND name = n AND holder IS NOT NULL AND expires_at <= now_us
            RETURNING expires_at
    )
    SELECT max(expires_at) INTO ended_at FROM ended;
    IF is_plain THEN
        RETURN ''::bytea;
    END IF;
    DELETE FROM leases_tickets WHERE kind = k AND name = n AND lapses_at <= now_us;
    RETURN leases_settle(k, n, coalesce(ended_at, now_us), now_us, own);
END $$;

-- At the end of an operation on a key that is not plain: who can be admitted by it is called, and a line that is
-- empty is noted.
CREATE FUNCTION leases_finish(k smallint, n text, is_plain boolean, now_us bigint, own text)
RETURNS bytea LANGUAGE plpgsql AS $$
BEGIN
    IF is_plain THEN
        RETURN ''::bytea;
    END IF;
    IF NOT EXISTS (SELECT FROM leases_tickets WHERE kind = k AND name = n) THEN
        UPDATE leases_grants SET plain = true
            WHERE kind = k AND name = n AND slot = 0 AND NOT EXISTS (
                SELECT FROM leases_departed
                    WHERE kind = k AND name = n AND loss = 3 AND until > now_us);
        RETURN ''::bytea;
    END IF;
    RETURN leases_settle(k, n, now_us, now_us, own);
END $$;

-- Calls those in line who can be admitted, in order, up to the first who can't; the first of those who were not
-- called before is called as of `since`. Who was called and has not asked for the claim time is passed over.
-- The first who can't is woken too where a hold ends before it would look again.
CREATE FUNCTION leases_settle(k smallint, n text, since bigint, now_us bigint, own text)
RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
    claim CONSTANT bigint := 1000000;
    as_of bigint := since;
    woken bytea := ''::bytea;
    taken bigint;
    earliest_end bigint;
    t record;
BEGIN
    SELECT count(*), min(expires_at) INTO taken, earliest_end
        FROM leases_grants WHERE kind = k AND name = n AND holder IS NOT NULL;
    FOR t IN SELECT number, holder, places, called_at, inbox FROM leases_tickets
        WHERE kind = k AND name = n AND (called_at IS NULL OR called_at + claim > now_us)
        ORDER BY number
    LOOP
        EXIT WHEN taken >= t.places;
        IF t.called_at IS NOT NULL THEN
            taken := taken + 1;
            CONTINUE;
        END IF;
        UPDATE leases_tickets SET called_at = as_of, woken = true WHERE number = t.number;
        woken := woken || leases_tell(t.holder, t.inbox, own);
        IF as_of + claim > now_us THEN
            taken := taken + 1;
        END IF;
        as_of := now_us;
    END LOOP;
    IF earliest_end IS NOT NULL THEN
        SELECT number, holder, asks_at, inbox INTO t FROM leases_tickets
            WHERE kind = k AND name = n AND called_at IS NULL ORDER BY number LIMIT 1;
        IF FOUND AND t.asks_at > earliest_end THEN
            UPDATE leases_tickets SET asks_at = earliest_end, woken = true WHERE number = t.number;
            woken := woken || leases_tell(t.holder, t.inbox, own);
        END IF;
    END IF;
    RETURN woken;
END $$;

-- Tells a waiter to ask now: one of the process of `own` in the answer, 16 bytes, others by a notification. Who
-- has no channel finds out that it was woken.
CREATE FUNCTION leases_tell(holder bytea, inbox text, own text) RETURNS bytea LANGUAGE plpgsql AS $$
BEGIN
    IF inbox = own THEN
        RETURN holder;
    ELSIF inbox LIKE 'leases:%' THEN
        PERFORM pg_notify(inbox, encode(holder, 'hex'));
    END IF;
    RETURN ''::bytea;
END $$;
