//! All that knows a language, and the only place that does. A second language is a folder beside [`english`].

pub(crate) mod english;
