//! From a question to an answer with evidence.

mod reader;

pub use reader::Reader;
