-- Keys and their grants. Times are microseconds since 1970 by the database's clock; names compare byte for byte.

-- Kind: 1 lease, 2 semaphore. One row per slot that was ever granted; a slot keeps its row, with its last
-- fence and end, until the whole key is forgotten. Every key has the row of slot 0, held or not.
CREATE TABLE leases_grants (
    kind       INTEGER NOT NULL,
    name       BLOB    NOT NULL,
    slot       INTEGER NOT NULL,
    holder     BLOB,                             -- none: nobody holds it
    owner      BLOB,
    note       BLOB,
    fence      INTEGER NOT NULL DEFAULT 0,       -- of its latest grant
    since      INTEGER NOT NULL DEFAULT 0,
    expires_at INTEGER NOT NULL DEFAULT 0,       -- when it ends, or ended
    not_after  INTEGER,
    plain      INTEGER NOT NULL DEFAULT 1,       -- of slot 0: the key has no line and nobody who left early
    PRIMARY KEY (kind, name, slot)
) STRICT, WITHOUT ROWID;

-- Why holders that did not give back no longer hold, until the time at which they would have expired. Loss: 1
-- superseded, 2 revoked; 3 left before it asked: an ask of its that comes late is refused.
CREATE TABLE leases_departed (
    kind       INTEGER NOT NULL,
    name       BLOB    NOT NULL,
    number     INTEGER NOT NULL,                 -- in the order in which they went
    holder     BLOB    NOT NULL,
    loss       INTEGER NOT NULL,
    until      INTEGER NOT NULL,
    PRIMARY KEY (kind, name, number)
) STRICT, WITHOUT ROWID;
