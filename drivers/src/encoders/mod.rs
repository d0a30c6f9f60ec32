//! Encoders turn text, pictures and sound into labels and vectors for the memory.
//!
//! An [`Encoder`] fills a [`Role`](crate::models::Role): it prepares its input, runs a [`Graph`] and reads the output. A
//! graph runs on a [`Backend`]: [`OnnxRuntime`], or TensorRT itself (`tensorrt`). [`Encoders`] loads every role of the catalogue on a
//! thread of its own, each independently of the others, and reports the result.
//!
//! Encoders are shared by all sources and block: call them from worker threads. Each runs one graph at a time and waits
//! for no queue, so what they hold is bounded by one batch.

mod acceleration;
mod answer_extraction;
mod backend;
mod captions;
mod certainty;
mod encoder;
mod faces;
mod ffi;
mod joint;
mod loading;
mod objects;
mod onnxruntime;
mod passage_comparison;
mod picture;
mod roles;
mod scene;
mod sounds;
mod speech;
#[cfg(feature = "tensorrt")]
pub mod tensorrt;
mod text_embedding;
mod trial;
mod vector;
mod voice_activity;
mod voices;
#[cfg(feature = "tensorrt")]
mod warming;
mod writing;
mod yolox;

pub use acceleration::{Accelerator, Road};
pub use answer_extraction::CrossEncoder;
pub use backend::{Backend, BackendError, Graph, GraphTensors, Tensor, TensorView};
pub use captions::{Captioner, ClipViewer, NumberedPictures, ViewedClip};
pub use certainty::Certainty;
pub use encoder::{Encoder, EncoderError};
pub(crate) use faces::{ALIGNED_SIDE, aligned};
pub use faces::{Face, FaceDetector, YuNet};
pub use joint::JointEncoder;
pub use loading::{runs, try_model};
pub use objects::{Detection, FastestDet, ObjectDetector, load_detector};
pub use onnxruntime::{LibraryError, OnnxRuntime, Provider};
pub use picture::Picture;
pub(crate) use picture::overlap;
pub use roles::{EncoderOptions, Encoders, Filled, RoleState, RoleStatus};
pub use scene::{ImageClassifier, ImageEmbedder, ImageEncoder, SceneClasses, SceneClassifier};
pub(crate) use sounds::{BANDS, HOP, LogMel, PATCH, PATCH_HOP, RATE};
pub use sounds::{SoundClassifier, SoundDetector, SoundInterval, SoundScores, SoundThresholds, Yamnet};
#[cfg(feature = "whisper")]
pub use speech::Whisper;
pub use speech::{OnnxWhisper, SpeechRecogniser, SpokenWord};
pub use text_embedding::SentenceEncoder;
pub use trial::{Trial, batches, trials};
pub use vector::VectorEncoder;
pub use voice_activity::{
    SileroVad, SpeechDetector, SpeechInterval, SpeechThresholds, VoiceActivity, VoiceState, VoiceStep, VoiceWindow,
};
pub use voices::{SpeakerEncoder, SpectralVoice, VoiceEmbedder, VoiceThresholds};
pub(crate) use writing::cut_out;
pub use writing::{CtcTextReader, DbTextDetector, ReadText, TextDetector, TextReader, WrittenLine};
pub use yolox::YoloX;
