//! What only the store on PostgreSQL does: its schema, leases, what workers tell each other, and
//! what becomes of a commit when the line is cut. What it does as any store: `conformance.rs`.

#![allow(clippy::unwrap_used)]

#[path = "support/cluster.rs"]
mod cluster;
#[path = "postgres/crawl.rs"]
mod crawl;
#[path = "postgres/fleet.rs"]
mod fleet;
#[path = "postgres/lines.rs"]
mod lines;
#[path = "postgres/proxy.rs"]
mod proxy;
#[path = "conformance/scene.rs"]
mod scene;
#[path = "postgres/schema.rs"]
mod schema;
#[path = "postgres/secure.rs"]
mod secure;
