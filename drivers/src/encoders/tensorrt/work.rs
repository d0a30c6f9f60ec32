//! The child process: work that may crash or take minutes.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::{Precision, TensorRtError, library, probe_net};
use crate::encoders::ffi::cuda::Device;
use crate::encoders::ffi::nvinfer::{BuildRequest, BuildStep, Execution, Kind, Library};
use crate::models::ShapeRange;

/// Prefix of every line for the parent. Libraries write to standard output as they like.
pub(super) const LINE_PREFIX: &str = "engram-engine ";
/// Scratch memory of the self-check, in bytes.
const CHECK_WORKSPACE: usize = 64 << 20;
/// Maximum difference from the arithmetic of the processor. TensorRT may use TF32.
const TOLERANCE: f32 = 1e-2;

/// Request of the parent, as one JSON object on standard input.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Request {
    pub library: PathBuf,
    pub parser: Option<PathBuf>,
    pub driver: Option<PathBuf>,
    pub allow_rtx: bool,
    pub device: i32,
    pub task: Task,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Task {
    SelfCheck,
    Build {
        graph: PathBuf,
        profiles: Vec<ShapeRange>,
        precision: Precision,
        dla: Option<i32>,
        workspace_mib: u64,
        /// Read if it is there, written at the end.
        timing: PathBuf,
        /// Path of the plan, which is written without any header.
        plan: PathBuf,
    },
}

/// Message of the child, one a line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum ChildMessage {
    Stage(String),
    /// Progress of the library.
    Percent(u8),
    Done,
    Failed(TensorRtError),
}

/// Does what standard input asks for and says on `output` how it went. For a program of its own, with the arguments that
/// [`BuilderCommand`](super::BuilderCommand) names: it lowers its priority and dies with its parent.
///
/// # Errors
/// If it cannot read or write. That something could not be built is no error, but said.
pub fn work(input: &mut dyn Read, output: &mut (dyn Write + Send)) -> std::io::Result<()> {
    // The robot comes first, and nobody waits for a builder whose parent is gone.
    if let Err(error) = rustix::process::nice(15) {
        tracing::debug!(%error, "the builder keeps its priority");
    }
    // Where memory runs out, the builder goes and not the memory of the robot, whose unit has a lower score.
    if let Err(error) = fs::write("/proc/self/oom_score_adj", "500") {
        tracing::debug!(%error, "the builder keeps its place in the order of who goes first");
    }
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    let mut text = String::new();
    input.read_to_string(&mut text)?;
    let request: Request = serde_json::from_str(&text).map_err(std::io::Error::other)?;
    let output = Mutex::new(output);
    let say = |said: &ChildMessage| -> std::io::Result<()> {
        let line = serde_json::to_string(said).map_err(std::io::Error::other)?;
        let mut output = output.lock();
        writeln!(output, "{LINE_PREFIX}{line}")?;
        output.flush()
    };
    let outcome = perform(&request, &|step| {
        let said = match step {
            BuildStep::Stage(stage) => ChildMessage::Stage(stage.to_owned()),
            BuildStep::Percent(percent) => ChildMessage::Percent(percent),
        };
        say(&said).unwrap_or_default();
    });
    say(&outcome.map_or_else(ChildMessage::Failed, |()| ChildMessage::Done))
}

fn perform(request: &Request, tell: &(dyn Fn(BuildStep) + Sync)) -> Result<(), TensorRtError> {
    let device = Device::open(request.driver.as_deref(), request.device);
    let library = library::find(Some(&request.library), request.allow_rtx)?;
    let device = match device {
        Ok(device) => Some(device),
        // It builds on the processor alone, which TensorRT does not.
        Err(_) if library.version().kind == Kind::Rtx => None,
        Err(error) => return Err(error.into()),
    };
    if let Some(device) = &device {
        device.activate()?;
    }
    let parsers = library::parsers(&library, request.parser.as_deref());
    match &request.task {
        Task::SelfCheck => {
            let device = Device::open(request.driver.as_deref(), request.device)?;
            self_check(&library, &device, &parsers, tell)
        }
        Task::Build { graph, profiles, precision, dla, workspace_mib, timing, plan } => {
            let onnx = fs::read(graph).map_err(|error| io(graph, &error))?;
            let measured = fs::read(timing).unwrap_or_default();
            let built = library.build(
                &BuildRequest {
                    onnx: &onnx,
                    path: graph,
                    parser: &parsers,
                    profiles,
                    workspace_bytes: usize::try_from(*workspace_mib << 20).unwrap_or(usize::MAX),
                    precision: *precision,
                    dla: *dla,
                    timing: &measured,
                },
                tell,
            )?;
            tell(BuildStep::Stage("writing"));
            fs::write(plan, &built.plan).map_err(|error| io(plan, &error))?;
            if !built.timing.is_empty() && built.timing != measured {
                let part = timing.with_extension(format!("part-{}", std::process::id()));
                let written = fs::write(&part, &built.timing).and_then(|()| fs::rename(&part, timing));
                written.map_err(|error| io(timing, &error))?;
            }
            Ok(())
        }
    }
}

fn io(path: &Path, error: &std::io::Error) -> TensorRtError {
    TensorRtError::Cache { path: path.to_path_buf(), message: error.to_string() }
}

/// Builds the tiny network with this very library on this very device, runs it with two shapes and compares with arithmetic.
fn self_check(
    library: &Arc<Library>,
    device: &Arc<Device>,
    parsers: &[PathBuf],
    tell: &(dyn Fn(BuildStep) + Sync),
) -> Result<(), TensorRtError> {
    device.activate()?;
    let onnx = probe_net::onnx();
    let request = BuildRequest {
        onnx: &onnx,
        path: Path::new(""),
        parser: parsers,
        profiles: &[probe_net::profile()],
        workspace_bytes: CHECK_WORKSPACE,
        precision: Precision::Fp32,
        dla: None,
        timing: &[],
    };
    let built = library.build(&request, tell)?;
    tell(BuildStep::Stage("running"));
    let mut execution = Execution::load(library, device, &built.plan)?;
    let wrong = |message: String| TensorRtError::SelfCheck { message };
    let place = execution.tensors().iter().position(|tensor| tensor.input && tensor.name() == probe_net::INPUT);
    let place = place.ok_or_else(|| wrong(format!("the engine has other tensors: {:?}", execution.tensors())))?;
    for rows in [1, 5] {
        let input = probe_net::input(rows);
        let expected = probe_net::answer(&input);
        let mut found: Vec<f32> = Vec::new();
        execution.run(
            &[(place, vec![rows as i64, (input.len() / rows) as i64])],
            &mut |_, bytes| {
                bytes.iter_mut().zip(input.iter().flat_map(|x| x.to_ne_bytes())).for_each(|(to, from)| *to = from);
                Ok(())
            },
            &mut |_, _, bytes| {
                found = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_ne_bytes(*bytes)).collect();
                Ok(())
            },
        )?;
        let agrees = found.len() == expected.len()
            && found.iter().zip(&expected).all(|(found, wanted)| (found - wanted).abs() <= TOLERANCE);
        if !agrees {
            return Err(wrong(format!("{} gives {found:?} for {rows} rows, not {expected:?}", library.version())));
        }
    }
    Ok(())
}
