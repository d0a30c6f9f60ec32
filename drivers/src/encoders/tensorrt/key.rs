//! The key of an engine: it is valid for the same graph, on the same device, with the same library.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Precision, TensorRtOptions};
use crate::encoders::ffi::cuda::DeviceFacts;
use crate::encoders::ffi::nvinfer::Library;
use crate::models::ShapeRange;

/// Version of how engines are made here. Increase it if the same key would name another engine.
const FORMAT: u32 = 1;
/// File with JetPack's version. Engines do not survive an update of JetPack, even if TensorRT's version stays.
const L4T_RELEASE_FILE: &str = "/etc/nv_tegra_release";

/// The machine's side of the key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Platform {
    format: u32,
    /// Version with all four numbers, if the library tells them.
    tensorrt: String,
    /// Name and size of the library's file: a patched build may carry the same numbers.
    library: String,
    driver: i32,
    l4t: String,
    device: String,
    capability: (i32, i32),
}

impl Platform {
    pub(super) fn from_device(library: &Library, device: &DeviceFacts) -> Self {
        let file = std::fs::canonicalize(library.file()).unwrap_or_else(|_| library.file().to_path_buf());
        let bytes = std::fs::metadata(&file).map_or(0, |metadata| metadata.len());
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let l4t = std::fs::read_to_string(L4T_RELEASE_FILE).ok();
        Self {
            format: FORMAT,
            tensorrt: library.version().to_string(),
            library: format!("{name}, {bytes} bytes"),
            driver: device.driver,
            l4t: l4t.as_deref().and_then(|text| text.lines().next()).unwrap_or_default().to_owned(),
            device: device.name.clone(),
            capability: device.capability,
        }
    }

    /// Name of what belongs to the machine and to no graph.
    pub(super) fn digest(&self) -> String {
        digest(self)
    }
}

/// The whole key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EngineKey {
    platform: Platform,
    /// sha256 of the graph's file.
    graph: String,
    precision: Precision,
    dla: Option<i32>,
    shapes: Vec<ShapeRange>,
}

impl EngineKey {
    pub(super) fn new(platform: &Platform, graph: String, options: &TensorRtOptions, shapes: &[ShapeRange]) -> Self {
        Self {
            platform: platform.clone(),
            graph,
            precision: options.precision,
            dla: options.dla,
            shapes: shapes.to_vec(),
        }
    }

    /// Returns the key in the form stored in the cached file.
    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).expect("a key is plain data")
    }

    /// Name of the cached file: for people, and for the machine.
    pub(super) fn file_name(&self, graph: &Path) -> String {
        let stem = graph.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let plain: String = stem
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' })
            .take(60)
            .collect();
        format!("{plain}-{}", &digest(self)[..16])
    }
}

fn digest(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("a key is plain data");
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
