//! The embedded store and the one on PostgreSQL against the model: random histories, everything
//! observable compared after every step, the store closed and opened again now and then.
//!
//! Small alphabets, so that everything collides with everything: three hosts (two of one
//! site), six URLs, two jobs, four depths. A history is valid in the sense of the protocol:
//! results are those of rows that were handed out, hosts are given back by who claimed them.
//! `PROPTEST_CASES=2000 cargo test -p argiope-store --test model` looks longer.

#![allow(clippy::unwrap_used)]

#[path = "support/cluster.rs"]
mod cluster;
#[path = "model/history.rs"]
mod history;
#[path = "model/observe.rs"]
mod observe;
#[path = "conformance/scene.rs"]
mod scene;

use history::{History, Step, step};
use observe::{Observed, answers};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use scene::{Embedded, Home, InMemory, Postgres};

fn config(cases: u32) -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if asked { ProptestConfig::default().cases } else { cases };
    let failure_persistence =
        Some(Box::new(FileFailurePersistence::WithSource("regressions")) as Box<_>);
    ProptestConfig { cases, failure_persistence, ..ProptestConfig::default() }
}

fn run<H: Home>(
    steps: &[Step],
    mut tried: H,
    rewrite: impl Fn(&mut H),
) -> Result<(), TestCaseError> {
    let model = InMemory::new();
    let mut history = History::new();
    for (n, step) in steps.iter().enumerate() {
        let now = history.advance(step);
        let want = model.store().commit(history.batch(step)).unwrap();
        let have = tried.store().commit(history.batch(step)).unwrap();
        match (step.reopen, step.later_ms % 2) {
            (true, 0) => tried.reopen(),
            (true, _) => rewrite(&mut tried),
            (false, _) => {}
        }
        prop_assert_eq!(answers(&have, now), answers(&want, now), "answer of step {}", n);
        // A job may be told though nothing changed; what changed must be told.
        for row in &want.jobs {
            prop_assert!(have.jobs.contains(row), "step {} changed {:?}", n, row);
        }
        history.heard(step, &want);
        let (have, want) = (Observed::of(tried.store()), Observed::of(model.store()));
        prop_assert_eq!(have, want, "after step {}", n);
        scene::check(tried.store());
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn the_embedded_store_does_what_the_model_does(steps in prop::collection::vec(step(), 1..40)) {
        run(&steps, Embedded::new(), Embedded::rewrite)?;
    }
}

proptest! {
    // Each case makes a database: few.
    #![proptest_config(config(6))]

    #[test]
    fn postgresql_does_what_the_model_does(steps in prop::collection::vec(step(), 1..40)) {
        if let Some(cluster) = cluster::shared() {
            run(&steps, Postgres::new(cluster.database()), Postgres::reopen)?;
        }
    }
}
