//! The policies of a run, and the one way to ask them.

use crate::settings::RevisitSettings;
use argiope_frontier::revisit::{Fixed, Fr, Fresh, FreshSettings, Knowledge, PolicyName, Revisit};

/// The policies in use; those that rules name are made as they are needed.
pub(super) struct Policies {
    pub(super) settings: RevisitSettings,
    pub(super) pages: f64,
    pub(super) known: Option<Knowledge>,
    pub(super) made: Vec<(PolicyName, Box<dyn Revisit>)>,
    pub(super) fresh: Option<Fresh>,
}

impl Policies {
    pub(super) fn budget(&self) -> f64 {
        let days = self.settings.round.as_secs_f64() / 86_400.0;
        self.settings.per_day.unwrap_or((self.pages / days.max(1e-6)).max(1.0))
    }

    pub(super) fn fresh(&mut self) -> &mut Fresh {
        let budget = self.budget();
        let (known, pages) = (&self.known, self.pages);
        self.fresh.get_or_insert_with(|| {
            let settings = FreshSettings::new(budget);
            let mut fresh = match known {
                Some(known) => Fresh::with_knowledge(settings, known),
                None => Fresh::new(settings),
            };
            fresh.set_pages(pages as u64);
            fresh
        })
    }

    pub(super) fn get(&mut self, name: PolicyName) -> &mut dyn Revisit {
        if name == PolicyName::Fresh {
            return self.fresh();
        }
        let at = self.made.iter().position(|(made, _)| *made == name).unwrap_or_else(|| {
            let round = self.settings.round;
            let policy: Box<dyn Revisit> = match name {
                PolicyName::Fr => Box::new(Fr { round, ..Fr::default() }),
                PolicyName::Selective => Box::new(Fr { round, ..Fr::selective() }),
                PolicyName::Fixed | PolicyName::Fresh => Box::new(Fixed { every: round }),
            };
            self.made.push((name, policy));
            self.made.len() - 1
        });
        &mut *self.made[at].1
    }

    /// A page, more or fewer.
    pub(super) fn count(&mut self, pages: f64) {
        self.pages = pages;
        let budget = self.budget();
        if let Some(fresh) = &mut self.fresh {
            fresh.set_pages(pages as u64);
            fresh.set_budget(budget);
        }
    }
}
