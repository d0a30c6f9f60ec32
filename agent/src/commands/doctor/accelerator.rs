//! Whether TensorRT serves here.

use drivers::encoders::tensorrt::{TensorRt, TensorRtError};

use super::{Finding, Report};
use crate::config::{Accelerator, Config};
use crate::senses::encoders;

pub fn examine(config: &Config, report: &mut Report) {
    let models = &config.models;
    let named =
        models.backend == Accelerator::TensorRt || models.backends.values().any(|b| *b == Accelerator::TensorRt);
    if !named && models.backend != Accelerator::Auto {
        return;
    }
    report.say(match TensorRt::open(encoders::tensorrt(models)) {
        Ok(backend) => {
            let found =
                format!("{} on {}; its self-check passed", backend.describe_library(), backend.describe_device());
            Finding::ok("TensorRT", found)
        }
        Err(error) if error.is_absent() && !named => {
            Finding::ok("TensorRT", format!("not used, encoders run on the processor ({error})"))
        }
        Err(error) => {
            let step = match &error {
                TensorRtError::DriverMissing { .. } => {
                    "nvidia-smi (on a Jetson: tegrastats) must see a GPU for this user"
                }
                TensorRtError::LibMissing { .. } => {
                    "on a Jetson: sudo apt install tensorrt; elsewhere name it in models.tensorrt.library"
                }
                TensorRtError::UnsupportedMajor { .. } => "install TensorRT 10, or set models.backend to \"cpu\"",
                _ => "set models.backend to \"cpu\" until this works; docs/tensorrt.md explains the stages",
            };
            let found = format!("{error} (stage: {})", error.stage());
            if named { Finding::error("TensorRT", found, step) } else { Finding::warning("TensorRT", found, step) }
        }
    });
}
