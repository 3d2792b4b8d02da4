-- What workers that ask at the same time must know of each other.

-- An address is asked by one worker alone (`holder`), which then needs no slots, until another wants it
-- too; from then on it is shared, and every request takes a slot. `asked` is when a row was last written, so that
-- changes of a row need no clock of their own.
ALTER TABLE addresses ADD COLUMN asked timestamptz NOT NULL DEFAULT '-infinity';
ALTER TABLE addresses ADD COLUMN holder bigint;
ALTER TABLE addresses ADD COLUMN shared timestamptz NOT NULL DEFAULT '-infinity';
ALTER TABLE addresses ADD COLUMN wanted boolean NOT NULL DEFAULT false;
-- Almost always empty: what a holder looks at.
CREATE INDEX addresses_wanted ON addresses (part, holder) WHERE wanted;

-- Since when a message waits to be taken.
ALTER TABLE inbox ADD COLUMN sent timestamptz NOT NULL DEFAULT clock_timestamp();

-- Pages and bytes that a job with a limit may still fetch are given out in blocks: what each worker was given,
-- and how much of that it has committed. All rows of a job lie in its partition.
CREATE TABLE quotas (
    part smallint NOT NULL,
    job integer NOT NULL,
    session bigint NOT NULL,       -- 0: what was fetched before anything was given out
    granted bigint NOT NULL,
    used bigint NOT NULL,
    bytes_granted bigint NOT NULL,
    bytes_used bigint NOT NULL,
    PRIMARY KEY (part, job, session)
) WITH (fillfactor = 20);
