-- The greatest fence admitted for a target, or for one slot of it; -1 where the target has none.
CREATE TABLE leases_guards (
    name        BLOB    NOT NULL,
    slot        INTEGER NOT NULL,
    greatest    INTEGER NOT NULL,
    admitted_at INTEGER NOT NULL,
    PRIMARY KEY (name, slot)
) STRICT, WITHOUT ROWID;
