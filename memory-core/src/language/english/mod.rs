//! English.

pub(crate) mod lexicon;
