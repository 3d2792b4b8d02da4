//! The sites whose news are followed.
//!
//! * What this is: their recipes, asked by the host of a URL.
//! * Its place: the command line reads them from a file; engine and reader ask.
//! * Invariants: the most specific recipe that is for a host counts.

use crate::recipe::Recipe;

/// The sites whose news are followed, each with its recipe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sites {
    recipes: Vec<Recipe>,
}

impl Sites {
    /// Those of these recipes.
    pub fn new(recipes: Vec<Recipe>) -> Self {
        Sites { recipes }
    }

    /// All of them, as given.
    pub fn recipes(&self) -> &[Recipe] {
        &self.recipes
    }

    /// Whether none is followed.
    pub fn is_empty(&self) -> bool {
        self.recipes.is_empty()
    }

    /// The recipe for a host, if it is of a site that is followed.
    pub fn of(&self, host: &str) -> Option<&Recipe> {
        let fitting = self.recipes.iter().filter(|recipe| recipe.is_for(host));
        fitting.max_by_key(|recipe| recipe.site.len())
    }
}
