mod answers;
mod any_text;
mod clauses;
mod contract;
mod corrections;
mod deliberation;
mod grammar;
pub(crate) mod home;
