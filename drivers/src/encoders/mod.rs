//! Encoders: roles, the backend that runs a model, and the pre- and postprocessing of each.
