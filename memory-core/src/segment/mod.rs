//! Temporal pattern separation (HippoMM 4.2.1): where one segment ends and the next begins.
