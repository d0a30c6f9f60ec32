//! Turns media into events for the memory: the segmenter and the encoders of one source.
//!
//! A [`Perceiver`] is the [`MediaConsumer`](crate::capture::MediaConsumer) of a source. Pictures go to the segmenter, and
//! selected ones to the encoders: objects and faces, which are tracked over the segment, colours, and scenes.
//! Sound goes to the segmenter, to the voice activity model and to the sound classifier. Picture and sound are monitored for a
//! missing signal. Subtitles are kept. When a segment closes, everything inside it becomes atomic events, and the segment goes to the
//! [`PerceptionSink`](memory_core::ports::PerceptionSink), which blocks until it is durable.
//!
//! All of it runs on the source's own worker thread. It slows down a file that is played at `max`. A live source drops data in
//! its own queues, counted by reason, if it cannot keep up. What a perceiver holds is bounded by the
//! longest segment and the segmenter's lookahead. The same input gives the same segments and events.

pub(crate) mod again;
mod captions;
mod colours;
mod events;
mod pace;
mod perceiver;
mod scenes;
mod sentence;
mod session;
mod signal;
mod sounds;
mod tracks;
mod voices;
pub(crate) mod words;
mod writing;

pub use pace::Pace;
pub use perceiver::{Media, Perceiver, PerceiverConfig, PerceptionCounters, PerceptionCounts};
