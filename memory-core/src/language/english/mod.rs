//! English: what words mean, times, word classes, phrases and clauses of questions and of what was told.

pub(crate) mod address;
pub(crate) mod closed;
pub(crate) mod correction;
pub(crate) mod faults;
pub(crate) mod foreign;
pub(crate) mod gender;
pub(crate) mod letters;
pub(crate) mod lexicon;
pub(crate) mod question;
pub(crate) mod reply;
pub(crate) mod setting;
pub(crate) mod space;
pub(crate) mod states;
pub(crate) mod summary;
pub(crate) mod syntax;
pub(crate) mod tag;
pub(crate) mod time;
pub(crate) mod token;
pub(crate) mod visit;
pub(crate) mod wording;

#[cfg(test)]
mod tests;
