-- The lines. A place is found by its number.
CREATE TABLE leases_tickets (
    kind       INTEGER NOT NULL,
    name       BLOB    NOT NULL,
    number     INTEGER NOT NULL,
    holder     BLOB    NOT NULL,
    places     INTEGER NOT NULL,                 -- the limit under which it waits
    owner      BLOB,
    note       BLOB,
    since      INTEGER NOT NULL,
    lapses_at  INTEGER NOT NULL,
    called_at  INTEGER,                          -- when it could be admitted and was told so
    asks_at    INTEGER NOT NULL,                 -- when it was last told to ask again
    inbox      BLOB    NOT NULL,                 -- of its process
    woken      INTEGER NOT NULL DEFAULT 0,       -- told to ask now, and has not asked since
    PRIMARY KEY (kind, name, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX leases_tickets_woken ON leases_tickets (inbox) WHERE woken = 1;
