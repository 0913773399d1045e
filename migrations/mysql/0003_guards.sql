-- The greatest fence admitted for a target, or for one slot of it; -1 where the target has none.
CREATE TABLE IF NOT EXISTS leases_guards (
    name        VARBINARY(512) NOT NULL,
    slot        INTEGER        NOT NULL,
    greatest    BIGINT         NOT NULL,
    admitted_at BIGINT         NOT NULL,
    PRIMARY KEY (name, slot)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
