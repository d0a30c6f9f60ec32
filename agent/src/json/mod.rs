//! The JSON that requests, replies and exports share: fields of an object, poses and refusals.

pub(crate) mod fields;
pub(crate) mod pose;
pub(crate) mod refusal;
