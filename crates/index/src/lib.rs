//! Which documents hold these words?
mod analyse;
mod error;
mod index;
mod links;
mod page;
mod query;
mod schema;
mod settings;
mod view;

pub use analyse::DEFAULT_STOP_WORDS;
pub use error::IndexError;
pub use index::{Index, Progress, Round};
pub use links::{LINK_PHRASES, LinkError, LinkedAs, Links, NoLinks};
pub use page::Page;
pub use query::Mistake;
pub use settings::Settings;
pub use view::{IndexSize, View};
