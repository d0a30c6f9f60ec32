//! From media to what the memory keeps: the segmenter and the encoders of one source.
//!
//! A [`Perceiver`] is the [`MediaConsumer`](crate::capture::MediaConsumer) of a source. Pictures go to the segmenter, and
//! those worth it to the encoders: objects and faces, which are followed over the segment, colours, what the whole shows.
//! Sound goes to the segmenter, to the voice activity model and to the sound classifier; both are watched for a signal
//! that fails; subtitles are kept. When a segment closes, everything inside it becomes atomic events, and the segment goes to the
//! [`PerceptionSink`](memory_core::ports::PerceptionSink), which blocks until it is durable.
//!
//! All of it happens on the source's own worker thread: a file that plays as fast as it goes is held back by it, and a
//! live source drops in its own queues, by reason, if it cannot keep up. What a perceiver holds is bounded by the
//! longest segment and the segmenter's lookahead. The same input gives the same segments and events.

mod colours;
mod events;
mod pace;
mod perceiver;
mod scenes;
mod sentence;
mod signal;
mod sounds;
mod tracks;
mod voices;
mod words;
mod writing;

pub use pace::Pace;
pub use perceiver::{Media, Perceiver, PerceiverConfig, PerceptionCounters, PerceptionCounts};
