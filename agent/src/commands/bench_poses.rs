//! `engram bench poses`: what the poses of a robot cost, as they come by MQTT.

use std::f64::consts::TAU;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_core::store::MemoryStorage;
use memory_core::{Clock, ManualClock, Memory, MemoryOptions, Observation, Pose, PoseOf, RawPose, Timestamp, Told};
use serde_json::{Value as Json, json};

use crate::cli::PosesBenchArgs;
use crate::exit::{Exit, Failure, OrExit};
use crate::json::pose::read_robot_pose;
use crate::output::Output;
use crate::service::{MemoryService, ServiceOptions};

/// 1 January 2026.
const BEGIN: i64 = 1_767_225_600_000_000;
/// Rooms that lie on a circle of this radius, metres.
const ROOMS: [&str; 8] = ["kitchen", "hall", "office", "bathroom", "bedroom", "cellar", "workshop", "library"];
const RADIUS: f64 = 15.0;
/// How long the robot drives once round all rooms, seconds.
const ROUND_S: f64 = 480.0;

/// Cost of a run.
struct Cost {
    poses: u64,
    used: u64,
    wall: Duration,
    cpu: Option<Duration>,
    visits: u64,
    /// Bytes of the store before the run, compacted.
    store_before: u64,
    /// Bytes of the store after the run, as it was written.
    store_after: u64,
    store_compacted: u64,
}

impl Cost {
    fn grown(&self) -> (u64, u64) {
        let grown = |bytes: u64| bytes.saturating_sub(self.store_before);
        (grown(self.store_after), grown(self.store_compacted))
    }
}

/// Drives a robot through a house with named rooms under a clock of its own, as fast as it goes, and says what it cost.
///
/// # Errors
/// [`Exit::Store`] if the memory, whose file is held in memory, cannot be used.
pub fn run(args: &PosesBenchArgs, output: Output) -> Result<Exit, Failure> {
    let cost = super::block_on(drive(args))?;
    let hour = f64::from(args.minutes) * 60.0;
    #[expect(clippy::cast_precision_loss, reason = "counts of a measurement")]
    let each = |time: Duration| time.as_secs_f64() * 1e6 / cost.poses.max(1) as f64;
    let time = cost.cpu.unwrap_or(cost.wall);
    let share = time.as_secs_f64() / hour * 100.0;
    let (grown, compacted) = cost.grown();
    if output.json {
        output.json(&json!({
            "poses": cost.poses, "used": cost.used, "minutes": args.minutes, "rate": args.rate,
            "wall_s": cost.wall.as_secs_f64(), "cpu_s": cost.cpu.map(|time| time.as_secs_f64()),
            "percent_of_a_core": share, "us_each": each(time), "visits": cost.visits, "store_bytes": grown, "store_bytes_compacted": compacted,
        }));
    } else {
        output.text(format!(
            "{} poses in {} minutes, {} used: {:.2} s of processor time ({:.1} µs each), {share:.3} % of a core",
            cost.poses,
            args.minutes,
            cost.used,
            time.as_secs_f64(),
            each(time),
        ));
        let (grown, compacted) = (grown >> 10, compacted >> 10);
        output.text(format!("{} visits; the store grew by {grown} KiB, {compacted} KiB compacted", cost.visits));
    }
    Ok(Exit::Ok)
}

async fn drive(args: &PosesBenchArgs) -> Result<Cost, Failure> {
    let start = Timestamp::from_micros(BEGIN);
    let clock = Arc::new(ManualClock::at(start));
    let options = MemoryOptions {
        zone: jiff::tz::TimeZone::UTC,
        max_bytes: None,
        cache_bytes: 16 << 20,
        index: Default::default(),
    };
    let memory = Memory::open_in(Arc::new(MemoryStorage::new()), options, Arc::<ManualClock>::clone(&clock))
        .or_exit(Exit::Store)?;
    let rooms = (0_u32..).zip(ROOMS).map(|(place, name)| {
        let (x, y) = on_circle(f64::from(place) / 8.0);
        let pose = RawPose { frame: "map".into(), x, y, ..RawPose::default() }.check().ok();
        let robot_pose = pose.map(|pose| Pose { of: PoseOf::Robot, ..pose });
        Observation::Told(Told { text: format!("This is the {name}."), robot_pose, ..Told::default() })
    });
    memory.observe(rooms.collect()).or_exit(Exit::Store)?;
    let store_before = memory.compact().or_exit(Exit::Store)?.bytes_after;
    let (service, threads) =
        MemoryService::start(memory.clone(), ServiceOptions::default(), Arc::<ManualClock>::clone(&clock) as _)
            .or_exit(Exit::Internal)?;
    let poses = u64::from(args.rate) * u64::from(args.minutes) * 60;
    let step = 1_000_000 / u64::from(args.rate.max(1));
    let (begin, cpu_begin) = (Instant::now(), processor_time());
    let mut used = 0;
    for number in 0..poses {
        let passed = Duration::from_micros(number * step);
        let at = start.saturating_add(passed);
        clock.set_wall(at);
        let payload = payload(passed.as_secs_f64(), at);
        let (pose, at) =
            read_robot_pose(&payload, clock.now()).map_err(|refusal| Failure::new(Exit::Internal, refusal.message))?;
        let followed = service.visit_is_due(at).then(|| pose.clone());
        if service.robot_path().push(pose, at, clock.now()).is_ok() {
            used += 1;
            if let Some(pose) = followed {
                service.remember_visits(service.follow(&pose, at)).await;
            }
        }
    }
    service.remember_visits(service.end_visit().into_iter().collect()).await;
    let (wall, cpu_end) = (begin.elapsed(), processor_time());
    let cpu = cpu_begin.zip(cpu_end).map(|(begin, end)| end.saturating_sub(begin));
    let visits = memory.places().or_exit(Exit::Store)?.iter().map(|place| place.visits).sum();
    let store_after = memory.stats().disk_bytes;
    threads.drain(Duration::from_secs(5));
    let store_compacted = memory.compact().map_or(store_after, |reply| reply.bytes_after);
    Ok(Cost { poses, used, wall, cpu, visits, store_before, store_after, store_compacted })
}

/// A point of the round, 0 to 1.
fn on_circle(part: f64) -> (f64, f64) {
    (RADIUS * (part * TAU).cos(), RADIUS * (part * TAU).sin())
}

/// A message as a bridge of ROS sends it, with all 36 numbers of the covariance.
fn payload(seconds: f64, at: Timestamp) -> Vec<u8> {
    let (x, y) = on_circle(seconds / ROUND_S);
    let mut covariance = [0.0; 36];
    (covariance[0], covariance[7], covariance[35]) = (0.01, 0.01, 0.005);
    #[expect(clippy::cast_precision_loss, reason = "microseconds of this century")]
    let at = at.as_micros() as f64 / 1e6;
    let body = json!({
        "frame": "map", "x": x, "y": y, "z": 0.0, "yaw": 0.5, "covariance": covariance.to_vec(), "at": at,
    });
    Json::to_string(&body).into_bytes()
}

/// Processor time of this process so far, all threads, in clock ticks of 10 ms.
fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(Duration::from_millis((user + system) * 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_minutes_of_poses_cost_a_few_observations() {
        let args = PosesBenchArgs { rate: 50, minutes: 2 };
        let cost = super::super::block_on(drive(&args)).unwrap();
        assert_eq!((cost.poses, cost.used), (6_000, 6_000));
        assert!(cost.visits >= 2, "{}", cost.visits);
        assert!(cost.grown().0 <= 2 << 20, "{:?} bytes", cost.grown());
    }
}
