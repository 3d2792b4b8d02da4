//! Migrations.

use crate::cluster::{self, Cluster, name_in};
use crate::scene::{begun, check, job, sole_worker};
use argiope_store::{PostgresOptions, PostgresStore, SCHEMA_VERSION, StoreError};

fn open(url: &str, schema: i32) -> Result<PostgresStore, StoreError> {
    PostgresStore::open_at(url, PostgresOptions::default(), schema)
}

/// Everything the catalog says of our tables: columns, keys, settings, functions.
fn catalog(cluster: &Cluster, url: &str) -> String {
    let columns = "SELECT table_name, ordinal_position, column_name, data_type, is_nullable,
        column_default, collation_name FROM information_schema.columns
        WHERE table_schema = 'argiope' ORDER BY 1, 2";
    let indexes = "SELECT tablename, indexdef FROM pg_indexes
        WHERE schemaname = 'argiope' ORDER BY 1, 2";
    let tables = "SELECT relname, relkind, reloptions, relpersistence FROM pg_class
        WHERE relnamespace = 'argiope'::regnamespace ORDER BY 1";
    let storage = "SELECT attrelid::regclass, attname, attstorage FROM pg_attribute
        JOIN pg_class c ON c.oid = attrelid
        WHERE relnamespace = 'argiope'::regnamespace AND attnum > 0 ORDER BY 1, 2";
    let functions = "SELECT proname, md5(prosrc) FROM pg_proc
        WHERE pronamespace = 'argiope'::regnamespace ORDER BY 1";
    let rows = "SELECT (SELECT count(*) FROM argiope.parts), name, n FROM argiope.meta";
    let all = [columns, indexes, tables, storage, functions, rows];
    all.map(|sql| cluster.sql(name_in(url), sql)).join("\n")
}

#[test]
fn a_schema_made_at_once_is_the_one_that_was_migrated_step_by_step() {
    let Some(cluster) = cluster::shared() else { return };
    let (at_once, by_steps) = (cluster.database(), cluster.database());
    open(&at_once, SCHEMA_VERSION).unwrap();
    for step in 1..=SCHEMA_VERSION {
        open(&by_steps, step).unwrap();
        let version = cluster.sql(name_in(&by_steps), "SELECT n FROM argiope.meta");
        assert_eq!(version.trim(), step.to_string());
    }
    let made = catalog(cluster, &at_once);
    assert!(made.contains("fillfactor") && made.contains("urls_doc"), "{made}");
    assert_eq!(made, catalog(cluster, &by_steps));
}

#[test]
fn migrating_twice_is_migrating_once() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    open(&url, SCHEMA_VERSION).unwrap();
    let once = catalog(cluster, &url);
    open(&url, SCHEMA_VERSION).unwrap();
    assert_eq!(catalog(cluster, &url), once);
}

#[test]
fn programs_that_open_a_new_database_at_once_make_it_together() {
    let Some(cluster) = cluster::shared() else { return };
    let (url, alone) = (cluster.database(), cluster.database());
    std::thread::scope(|scope| {
        let opened: Vec<_> =
            (0..4).map(|_| scope.spawn(|| open(&url, SCHEMA_VERSION).map(|_| ()))).collect();
        opened.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
    });
    open(&alone, SCHEMA_VERSION).unwrap();
    assert_eq!(catalog(cluster, &url), catalog(cluster, &alone));
}

#[test]
fn a_newer_schema_is_refused_with_a_sentence() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    open(&url, SCHEMA_VERSION).unwrap();
    cluster.sql(name_in(&url), "UPDATE argiope.meta SET n = 99");
    let refused = open(&url, SCHEMA_VERSION).err().unwrap();
    assert!(matches!(refused, StoreError::NewerSchema { found: 99, .. }), "{refused}");
    assert!(refused.to_string().contains("newer Argiope"), "{refused}");
}

#[test]
fn what_was_there_before_a_migration_is_there_after_it() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    open(&url, 1).unwrap();
    let put = "INSERT INTO argiope.numbers VALUES (0, 'page', 7)";
    cluster.sql(name_in(&url), put);
    let store = sole_worker(&url);
    assert_eq!(argiope_store::Store::next_page(&store).unwrap(), 7);
    begun(&store, job(1), &["http://a.test/1", "http://b.test/1"]);
    check(&store);
}

#[test]
fn a_url_that_names_nothing_is_refused_with_a_sentence() {
    for (url, says) in [
        ("postgres://db.test/crawl?sslmode=often", "sslmode=often is not known"),
        ("postgres://db.test/crawl?sslmode=verify-ca&sslrootcert=/nowhere", "/nowhere"),
        ("dbname=crawl", "names no host"),
        ("http://db.test/", "cannot be used"),
    ] {
        let refused = open(url, SCHEMA_VERSION).err().unwrap().to_string();
        assert!(refused.contains(says), "{url}: {refused}");
    }
}

#[test]
fn every_table_can_be_distributed_by_partition() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    open(&url, SCHEMA_VERSION).unwrap();
    // The one that tells the version stays where the programs connect.
    let keys = "SELECT c.relname, (SELECT attname FROM pg_attribute
            WHERE attrelid = c.oid AND attnum = i.indkey[0]), i.indisunique
        FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
        WHERE c.relnamespace = 'argiope'::regnamespace AND c.relname <> 'meta'";
    let keys = cluster.sql(name_in(&url), keys);
    assert!(keys.lines().count() >= 18, "{keys}");
    for key in keys.lines() {
        assert_eq!(key.split('|').nth(1), Some("part"), "{key}");
    }
    // One beside the keys, and one that holds next to nothing.
    let secondary = "SELECT indexrelid::regclass, indpred IS NOT NULL FROM pg_index
        JOIN pg_class c ON c.oid = indrelid
        WHERE c.relnamespace = 'argiope'::regnamespace AND NOT indisprimary ORDER BY 2";
    let secondary = cluster.sql(name_in(&url), secondary);
    assert_eq!(secondary.trim(), "argiope.urls_doc|f\nargiope.addresses_wanted|t");
    let foreign = "SELECT count(*) FROM pg_constraint
        WHERE connamespace = 'argiope'::regnamespace AND contype = 'f'";
    assert_eq!(cluster.sql(name_in(&url), foreign).trim(), "0");
}
