//! Two ways of giving PostgreSQL a group of rows: arrays in one statement, and `COPY` into a staging
//! table that is then inserted from.
//!
//! * What is measured: processor time of the server, its log and the time taken, per row, for groups
//!   of new URLs with keys in no order, each group a synced transaction; `ON CONFLICT` in both.
//! * Corpus: rows of 14 bytes of key and 110 of value, made from a counter.
//! * How to run: `cargo run --release -p argiope-store --example pg_paths -- ROWS GROUP`, for
//!   instance `400000 420`. One line per way.
//! * What would falsify the choice made (arrays): staging that costs less for groups of the size a
//!   worker commits, some hundreds of rows.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../tests/support/cluster.rs"]
mod cluster;

use cluster::{Cluster, name_in};
use std::time::Instant;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls};

const SETTINGS: &str = "shared_buffers = 1GB\nmax_wal_size = 8GB\ncheckpoint_timeout = 30min\n";
const ARRAYS: &str = "INSERT INTO arrays (part, k, doc, v)
    SELECT * FROM unnest($1::smallint[], $2::bytea[], $3::bigint[], $4::bytea[])
    ON CONFLICT (part, k) DO UPDATE SET v = excluded.v";
/// For rows that are known to be new.
const PLAIN: &str = "INSERT INTO arrays (part, k, doc, v)
    SELECT * FROM unnest($1::smallint[], $2::bytea[], $3::bigint[], $4::bytea[])";
const STAGED: &str = "INSERT INTO staged (part, k, doc, v) SELECT part, k, doc, v FROM stage
    ON CONFLICT (part, k) DO UPDATE SET v = excluded.v";

struct Group {
    parts: Vec<i16>,
    keys: Vec<Vec<u8>>,
    docs: Vec<i64>,
    values: Vec<Vec<u8>>,
}

fn group(first: u64, size: u64) -> Group {
    let mix = |n: u64| {
        let n = (n ^ (n >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (n ^ (n >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
    };
    let mut rows: Vec<(i16, Vec<u8>, i64)> = (first..first + size)
        .map(|n| {
            let (a, b) = (mix(n), mix(n ^ (1 << 60)));
            let key = [&a.to_be_bytes()[2..], &b.to_be_bytes()].concat();
            ((a % 4096) as i16, key, n as i64)
        })
        .collect();
    rows.sort();
    let values = rows.iter().map(|row| row.1.repeat(8)).collect();
    let docs = rows.iter().map(|row| row.2).collect();
    let (parts, keys) = rows.into_iter().map(|row| (row.0, row.1)).unzip();
    Group { parts, keys, docs, values }
}

async fn by_arrays(
    client: &mut Client,
    group: &Group,
    sql: &str,
) -> Result<(), tokio_postgres::Error> {
    let statement = client.prepare(sql).await?;
    let Group { parts, keys, docs, values } = group;
    client.execute(&statement, &[parts, keys, docs, values]).await.map(|_| ())
}

async fn by_staging(
    client: &mut Client,
    group: &Group,
    clear: &str,
) -> Result<(), tokio_postgres::Error> {
    let turn = client.transaction().await?;
    let sink = turn.copy_in("COPY stage (part, k, doc, v) FROM STDIN BINARY").await?;
    let types = [Type::INT2, Type::BYTEA, Type::INT8, Type::BYTEA];
    let mut writer = Box::pin(BinaryCopyInWriter::new(sink, &types));
    for n in 0..group.parts.len() {
        let row: [&(dyn ToSql + Sync); 4] =
            [&group.parts[n], &group.keys[n], &group.docs[n], &group.values[n]];
        writer.as_mut().write(&row).await?;
    }
    writer.as_mut().finish().await?;
    turn.execute(STAGED, &[]).await?;
    turn.batch_execute(clear).await?;
    turn.commit().await
}

/// Processor time of all children of the server, in seconds, and its log in bytes.
fn cost(cluster: &Cluster, database: &str) -> (f64, f64) {
    let pid = "SELECT pid FROM pg_stat_activity WHERE application_name = 'paths'";
    let pid = cluster.sql(database, pid);
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap();
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = rest.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<f64>().ok());
    let wal = cluster.sql(database, "SELECT pg_current_wal_lsn() - '0/0'");
    (ticks.sum::<f64>() / 100.0, wal.trim().parse().unwrap())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|n| n.parse().ok()).collect();
    let [rows, size] = numbers[..] else { return Err("ROWS and GROUP are needed".into()) };
    let cluster = Cluster::start(SETTINGS).ok_or("PostgreSQL is needed")?;
    let url = cluster.database();
    let database = name_in(&url);
    let runtime = tokio::runtime::Runtime::new()?;
    for (way, stage, clear) in [
        ("arrays", "", ARRAYS),
        ("arrays, plain", "", PLAIN),
        ("unlogged, delete", "UNLOGGED", "DELETE FROM stage"),
        ("unlogged, truncate", "UNLOGGED", "TRUNCATE stage"),
        ("temporary, truncate", "TEMP", "TRUNCATE stage"),
    ] {
        let (mut client, line) = runtime
            .block_on(tokio_postgres::connect(&format!("{url} application_name=paths"), NoTls))?;
        runtime.spawn(line);
        let table = "(part smallint, k bytea, doc bigint, v bytea";
        let make = format!(
            "DROP TABLE IF EXISTS arrays, staged, stage; CREATE TABLE arrays {table}, PRIMARY KEY (part, k));
             CREATE TABLE staged {table}, PRIMARY KEY (part, k)); CREATE {stage} TABLE stage {table})"
        );
        runtime.block_on(client.batch_execute(&make))?;
        let (cpu, wal) = cost(&cluster, database);
        let begun = Instant::now();
        for first in (0..rows).step_by(size as usize) {
            let group = group(first, size);
            match stage {
                "" => runtime.block_on(by_arrays(&mut client, &group, clear))?,
                _ => runtime.block_on(by_staging(&mut client, &group, clear))?,
            }
        }
        let elapsed = begun.elapsed().as_secs_f64();
        let (cpu_after, wal_after) = cost(&cluster, database);
        let per_row = |amount: f64| amount / rows as f64;
        println!(
            "{way:20} {:6.1} us of the server, {:5.0} bytes of log, {:6.1} us altogether, per row",
            per_row((cpu_after - cpu) * 1e6),
            per_row(wal_after - wal),
            per_row(elapsed * 1e6),
        );
    }
    Ok(())
}
