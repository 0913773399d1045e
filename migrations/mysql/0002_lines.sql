-- The lines. A place is found by its number.
CREATE TABLE IF NOT EXISTS leases_tickets (
    kind       SMALLINT       NOT NULL,
    name       VARBINARY(512) NOT NULL,
    number     BIGINT         NOT NULL,
    holder     BINARY(16)     NOT NULL,
    places     INTEGER        NOT NULL,              -- the limit under which it waits
    owner      VARBINARY(256) NULL,
    note       VARBINARY(256) NULL,
    since      BIGINT         NOT NULL,
    lapses_at  BIGINT         NOT NULL,
    called_at  BIGINT         NULL,                  -- when it could be admitted and was told so
    asks_at    BIGINT         NOT NULL,              -- when it was last told to ask again
    inbox      VARBINARY(64)  NOT NULL,              -- of its process
    woken      BOOLEAN        NOT NULL DEFAULT FALSE, -- told to ask now, and has not asked since
    PRIMARY KEY (kind, name, number),
    KEY leases_tickets_woken (inbox, woken)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
