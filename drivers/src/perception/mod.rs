//! From media to closed segments: the segmenter and the encoders of one source.
