-- The guards.

-- The greatest fence admitted for a target, or for one slot of it; -1 where the target has none.
CREATE TABLE leases_guards (
    name        text    COLLATE "C" NOT NULL,
    slot        integer NOT NULL,
    greatest    bigint  NOT NULL,
    admitted_at bigint  NOT NULL,
    PRIMARY KEY (name, slot)
) WITH (fillfactor = 50);

-- Asks the guard of a target, or of one slot of it. Answers none where the fence is admitted, else the greater one
-- that was. A refusal writes nothing.
CREATE FUNCTION leases_admit(n text, s integer, f bigint, told bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    seen bigint;
BEGIN
    SELECT greatest INTO seen FROM leases_guards WHERE name = n AND slot = s;
    IF seen > f THEN
        RETURN seen;
    END IF;
    INSERT INTO leases_guards AS g VALUES (n, s, f, leases_now(told))
        ON CONFLICT (name, slot) DO UPDATE
        SET greatest = excluded.greatest, admitted_at = excluded.admitted_at
        WHERE g.greatest <= excluded.greatest;
    IF FOUND THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT greatest FROM leases_guards WHERE name = n AND slot = s);
END $$;

-- The same for guards behind (n, s): those that admitted nothing for the retention time.
CREATE FUNCTION leases_forget_guards(
    INOUT n text, INOUT s integer, many integer, retention bigint, told bigint
) LANGUAGE plpgsql AS $$
DECLARE
    now_us bigint := leases_now(told);
    looked integer := 0;
    one record;
BEGIN
    FOR one IN SELECT name, slot, admitted_at FROM leases_guards
        WHERE (name, slot) > (n, s) ORDER BY name, slot LIMIT many
    LOOP
        looked := looked + 1;
        n := one.name;
        s := one.slot;
        IF one.admitted_at + retention <= now_us THEN
            DELETE FROM leases_guards
                WHERE name = n AND slot = s AND admitted_at + retention <= now_us;
        END IF;
    END LOOP;
    IF looked < many THEN
        n := NULL;
        s := NULL;
    END IF;
END $$;
