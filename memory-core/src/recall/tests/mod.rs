mod answers;
mod any_text;
mod contract;
mod deliberation;
pub(crate) mod home;
