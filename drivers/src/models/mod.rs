//! Which file fills which role.
