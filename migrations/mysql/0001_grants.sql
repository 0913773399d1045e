-- Keys and their grants. Times are microseconds since 1970 by the database's clock; names compare byte for byte.

-- Kind: 1 lease, 2 semaphore. One row per slot that was ever granted; a slot keeps its row, with its last
-- fence and end, until the whole key is forgotten. Every key has the row of slot 0, held or not: whoever
-- changes anything of a key locks it first.
CREATE TABLE IF NOT EXISTS leases_grants (
    kind       SMALLINT       NOT NULL,
    name       VARBINARY(512) NOT NULL,
    slot       INTEGER        NOT NULL,
    holder     BINARY(16)     NULL,                  -- none: nobody holds it
    owner      VARBINARY(256) NULL,
    note       VARBINARY(256) NULL,
    fence      BIGINT         NOT NULL DEFAULT 0,    -- of its latest grant
    since      BIGINT         NOT NULL DEFAULT 0,
    expires_at BIGINT         NOT NULL DEFAULT 0,    -- when it ends, or ended
    not_after  BIGINT         NULL,
    plain      BOOLEAN        NOT NULL DEFAULT TRUE, -- of slot 0: the key has no line and nobody who left early
    PRIMARY KEY (kind, name, slot)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;

-- Why holders that did not give back no longer hold, until the time at which they would have expired. Loss: 1
-- superseded, 2 revoked; 3 left before it asked: an ask of its that comes late is refused.
CREATE TABLE IF NOT EXISTS leases_departed (
    kind       SMALLINT       NOT NULL,
    name       VARBINARY(512) NOT NULL,
    number     BIGINT         NOT NULL,              -- in the order in which they went
    holder     BINARY(16)     NOT NULL,
    loss       SMALLINT       NOT NULL,
    until      BIGINT         NOT NULL,
    PRIMARY KEY (kind, name, number)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
