-- What is known of every URL, and what is to be done: one owner per partition writes them.
-- `part` leads every key. `k` is the rest of the key, `v` the row, both as the embedded store
-- writes them. No index beside the keys but one on a column that never changes.

CREATE TABLE urls (
    part smallint NOT NULL,
    k bytea NOT NULL,              -- host 6, URL 8
    doc bigint NOT NULL,           -- the number for life
    v bytea NOT NULL,
    PRIMARY KEY (part, k)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.5);
CREATE INDEX urls_doc ON urls (part, doc);

CREATE TABLE hosts (
    part smallint NOT NULL,
    k bytea NOT NULL,              -- host 6
    v bytea NOT NULL,
    PRIMARY KEY (part, k)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1);

-- Rows that wait to be handed out, host by host in their order.
CREATE TABLE ready (
    part smallint NOT NULL,
    k bytea NOT NULL,              -- host 6, order 8, seq 8
    u bigint NOT NULL,             -- the URL's part of its key
    PRIMARY KEY (part, k)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);

CREATE TABLE calendar (
    part smallint NOT NULL,
    k bytea NOT NULL,              -- due 8, host 6, URL 8
    v bytea NOT NULL,
    PRIMARY KEY (part, k)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);

CREATE TABLE schedule (
    part smallint NOT NULL,
    k bytea NOT NULL,              -- wake 4, host 6
    PRIMARY KEY (part, k)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);

CREATE TABLE claims (
    part smallint NOT NULL,
    k bytea NOT NULL,              -- host 6
    PRIMARY KEY (part, k)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);

CREATE TABLE captures (
    part smallint NOT NULL,
    k bytea NOT NULL,              -- host 6, URL 8, time 8
    v bytea NOT NULL,
    PRIMARY KEY (part, k)
);

CREATE TABLE links (
    part smallint NOT NULL,
    k bytea NOT NULL,              -- host 6, URL 8
    v bytea NOT NULL,
    PRIMARY KEY (part, k)
) WITH (fillfactor = 90);
ALTER TABLE links ALTER COLUMN v SET STORAGE EXTERNAL; -- compressed already

CREATE TABLE payloads (
    part smallint NOT NULL,
    k bytea NOT NULL,              -- site 6, digest 20
    v bytea NOT NULL,
    PRIMARY KEY (part, k)
);

CREATE TABLE robots (
    part smallint NOT NULL,
    k bytea NOT NULL,              -- host 6
    v bytea NOT NULL,
    PRIMARY KEY (part, k)
);
ALTER TABLE robots ALTER COLUMN v SET STORAGE EXTERNAL;

-- The change log: n is counted by the partition's owner, without holes. Ranges of n are tables of
-- their own, so that what everybody has followed can be dropped in one piece.
CREATE TABLE log (
    part smallint NOT NULL,
    n bigint NOT NULL,
    v bytea NOT NULL,
    PRIMARY KEY (part, n)
) PARTITION BY RANGE (n);

-- Jobs: the order is written once, the state when it changes. Each writer counts in a row of its
-- own; together they are what the job has done.
CREATE TABLE jobs (
    part smallint NOT NULL,
    job integer NOT NULL,
    state smallint NOT NULL,
    version bigint NOT NULL,       -- counts the changes of the order
    v bytea NOT NULL,
    PRIMARY KEY (part, job)
);

CREATE TABLE job_counts (
    part smallint NOT NULL,
    job integer NOT NULL,
    c bigint[] NOT NULL,
    PRIMARY KEY (part, job)
) WITH (fillfactor = 20);

CREATE TABLE segments (
    part smallint NOT NULL,
    kind smallint NOT NULL,
    number bigint NOT NULL,
    length bigint NOT NULL,
    archive text NOT NULL,         -- whose it is: workers may have directories of their own
    PRIMARY KEY (part, kind, number)
) WITH (fillfactor = 50);

CREATE TABLE exclusions (
    part smallint NOT NULL,
    name text COLLATE "C" NOT NULL,
    v bytea NOT NULL,
    PRIMARY KEY (part, name)
);

-- Numbers that only grow.
CREATE TABLE numbers (
    part smallint NOT NULL,
    name text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    PRIMARY KEY (part, name)
) WITH (fillfactor = 20);

-- Makes the table for one more range of the change log.
CREATE FUNCTION log_range(i bigint, size bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass(format('argiope.log_%s', i)) IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(7021782002041447682);
    EXECUTE format('CREATE TABLE IF NOT EXISTS argiope.log_%s PARTITION OF argiope.log FOR VALUES FROM (%s) TO (%s)',
        i, i * size, (i + 1) * size);
END $$;
