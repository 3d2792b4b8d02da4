//! The engine: joins the stages.
