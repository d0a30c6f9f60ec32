mod answers;
mod any_text;
mod contract;
pub(crate) mod home;
