mod answers;
mod any_text;
mod contract;
mod corrections;
mod deliberation;
pub(crate) mod home;
