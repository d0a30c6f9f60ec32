mod answers;
mod any_text;
mod contract;
mod deliberation;
mod home;
