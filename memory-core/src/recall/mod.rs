//! From a question to an answer with evidence.
