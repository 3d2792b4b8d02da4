-- Spreads the rows over the nodes of Citus, by partition: everything of one lies on one node, its
-- owner and epoch beside it, so that a commit holds there as a whole or not at all. Without Citus, or
-- where that is done already, nothing happens. Tables that hold rows are distributed only when that is
-- wanted: nobody can write meanwhile.
--
-- What is small and asked for as a whole stays where the programs connect: jobs and what they count,
-- segments, exclusions, numbers, addresses, and the workers, whose leases go by one clock.
CREATE FUNCTION distribute(move_rows boolean DEFAULT true) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    name text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
        RETURN 'Citus is not installed in this database: CREATE EXTENSION citus';
    END IF;
    IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'argiope.parts'::regclass) THEN
        RETURN 'the tables are distributed';
    END IF;
    IF NOT move_rows AND (EXISTS (SELECT FROM argiope.urls) OR EXISTS (SELECT FROM argiope.inbox)
        OR EXISTS (SELECT FROM argiope.parts WHERE epoch <> 0)) THEN
        RETURN 'there are rows already: SELECT argiope.distribute()';
    END IF;
    FOREACH name IN ARRAY ARRAY['parts', 'urls', 'hosts', 'ready', 'calendar', 'schedule', 'claims',
        'captures', 'links', 'payloads', 'robots', 'log', 'inbox']
    LOOP
        PERFORM create_distributed_table(format('argiope.%I', name)::regclass, 'part',
            colocate_with => CASE name WHEN 'parts' THEN 'none' ELSE 'argiope.parts' END);
        PERFORM truncate_local_data_after_distributing_table(format('argiope.%I', name)::regclass);
    END LOOP;
    RETURN 'the tables are distributed';
END $$;
