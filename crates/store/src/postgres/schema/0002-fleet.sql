-- Who works on which partition, and what they tell each other.

-- Owner and epoch of each partition, beside what its owner counts: a commit advances the numbers of the
-- partitions it touches where owner and epoch are still its own, and nowhere else.
CREATE TABLE parts (
    part smallint NOT NULL PRIMARY KEY,
    owner bigint,                  -- a worker's session; NULL: free
    epoch bigint NOT NULL DEFAULT 0,
    docs bigint NOT NULL DEFAULT 0,
    log bigint NOT NULL DEFAULT 0,
    grp bigint NOT NULL DEFAULT 0  -- the last group of pages that was committed
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0.1);
INSERT INTO parts (part) SELECT generate_series(0, 4095)::smallint;

-- Workers that live; a lease is theirs until `expires`, by the clock of the database.
CREATE TABLE workers (
    part smallint NOT NULL,
    session bigint NOT NULL,
    name text NOT NULL,
    address text NOT NULL,         -- where its metrics are
    started timestamptz NOT NULL,
    heard timestamptz NOT NULL,
    expires timestamptz NOT NULL,
    pages bigint NOT NULL,
    speed double precision NOT NULL,
    PRIMARY KEY (part, session)
) WITH (fillfactor = 20);

-- What was found of partitions that others own.
CREATE TABLE inbox (
    part smallint NOT NULL,
    k bytea NOT NULL,              -- home of the sender 2, its group 8, number 4
    v bytea NOT NULL,
    PRIMARY KEY (part, k)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);

-- When an address that serves several hosts may be asked again.
CREATE TABLE addresses (
    part smallint NOT NULL,
    address text COLLATE "C" NOT NULL,
    next timestamptz NOT NULL,
    PRIMARY KEY (part, address)
) WITH (fillfactor = 50);
