//! Each layer's proposals for a question. A new kind of knowledge is a new file here.

pub(super) mod amounts;
pub(super) mod counts;
pub(super) mod events;
pub(super) mod facts;
pub(super) mod lasted;
pub(super) mod numbers;
pub(super) mod order;
pub(super) mod parts;
pub(super) mod places;
pub(super) mod poses;
pub(super) mod presence;
pub(super) mod procedures;
pub(super) mod quote;
pub(super) mod rank;
pub(super) mod signal;
pub(super) mod summary;
pub(super) mod times;
pub(super) mod truth;
pub(super) mod way;
