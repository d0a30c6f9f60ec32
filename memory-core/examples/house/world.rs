//! A made-up house: rooms, things that move, and a robot that sees them from its way, with noise and lost localisation.
//!
//! The same numbers give the same house. What the robot can know is what it saw last, so that is the truth that answers are
//! compared with.

use std::collections::BTreeMap;

use fuzzing::Xorshift;
use memory_core::{Kind, Pose, PoseOf, RawPose, Timestamp, Told};

/// 2 November 2026, 08:00 UTC.
pub const BEGIN: i64 = 1_793_606_400;
const ROOMS: [&str; 8] = ["kitchen", "living room", "bedroom", "bathroom", "office", "garage", "pantry", "dining room"];
const WIDTH: f64 = 5.0;
const DEPTH: f64 = 4.0;
/// The corridor between the two rows of rooms.
const CORRIDOR: f64 = 2.0;

/// Things that are in the house, and things that never were.
pub const THINGS: [&str; 40] = [
    "mug",
    "teapot",
    "hammer",
    "umbrella",
    "backpack",
    "guitar",
    "kettle",
    "scissors",
    "helmet",
    "lantern",
    "basket",
    "pillow",
    "notebook",
    "stapler",
    "wrench",
    "bucket",
    "broom",
    "vase",
    "camera",
    "drill",
    "toaster",
    "blanket",
    "ladder",
    "suitcase",
    "globe",
    "candle",
    "frying pan",
    "flashlight",
    "calculator",
    "tripod",
    "dustpan",
    "whistle",
    "magnifier",
    "microscope",
    "trophy",
    "thermos",
    "racket",
    "compass",
    "violin",
    "sponge",
];
pub const NEVER_SEEN: [&str; 20] = [
    "accordion",
    "telescope",
    "harp",
    "wheelbarrow",
    "anvil",
    "typewriter",
    "parachute",
    "snorkel",
    "chandelier",
    "bagpipe",
    "hammock",
    "sled",
    "abacus",
    "cello",
    "crossbow",
    "kayak",
    "xylophone",
    "harpoon",
    "sundial",
    "unicycle",
];

/// A small generator; the same every time.
pub struct Dice(Xorshift);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(Xorshift(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1))
    }

    /// From 0 to 1.
    pub fn share(&mut self) -> f64 {
        self.0.fraction()
    }

    pub fn below(&mut self, most: usize) -> usize {
        self.0.below(most)
    }

    /// About normal, of this standard deviation.
    fn noise(&mut self, deviation: f64) -> f64 {
        ((0..12).map(|_| self.share()).sum::<f64>() - 6.0) * deviation
    }
}

/// How large the house's story is.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub things: usize,
    pub days: i64,
    /// Of a day, seconds from 08:00.
    pub active_s: i64,
    pub seed: u64,
}

/// A thing as the robot saw it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sighting {
    /// Seconds since 1970.
    pub at: i64,
    /// Where it truly was.
    pub x: f64,
    pub y: f64,
}

/// What was told, and what is true.
pub struct House {
    pub told: Vec<Told>,
    /// By thing, in order of time.
    pub seen: BTreeMap<&'static str, Vec<Sighting>>,
    pub end: i64,
    /// Seconds in which the robot did not know where it was.
    pub lost_s: i64,
}

/// The room of a position.
pub fn room_of(x: f64, y: f64) -> Option<&'static str> {
    let column = (x / WIDTH).floor();
    let row = if (0.0..DEPTH).contains(&y) {
        0
    } else if (DEPTH + CORRIDOR..2.0 * DEPTH + CORRIDOR).contains(&y) {
        1
    } else {
        return None;
    };
    (0.0..4.0).contains(&column).then(|| ROOMS[row * 4 + column as usize])
}

fn corner(room: usize) -> (f64, f64) {
    ((room % 4) as f64 * WIDTH, (room / 4) as f64 * (DEPTH + CORRIDOR))
}

/// Somewhere in a room, not at its walls.
fn spot(room: usize, dice: &mut Dice) -> (f64, f64) {
    let (x, y) = corner(room);
    (x + 0.7 + dice.share() * (WIDTH - 1.4), y + 0.7 + dice.share() * (DEPTH - 1.4))
}

pub fn time(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

fn pose(x: f64, y: f64, deviation: f64, of: PoseOf) -> Option<Pose> {
    let variance = deviation * deviation;
    let covariance = vec![variance, variance, 0.01];
    RawPose { frame: "house".into(), x, y, covariance, of, ..RawPose::default() }.check().ok()
}

/// Lets the robot live in a house.
pub fn live(size: Size) -> House {
    let mut dice = Dice::new(size.seed);
    let mut places: Vec<(f64, f64)> = (0..size.things).map(|_| spot(dice.below(8), &mut dice)).collect();
    let mut house = House { told: Vec::new(), seen: BTreeMap::new(), end: BEGIN, lost_s: 0 };
    let mut last_told = vec![i64::MIN; size.things];
    // Its owner shows it around: what each room is called, at three spots of each.
    let mut now = BEGIN - 3_600;
    for (room, name) in ROOMS.iter().enumerate() {
        for _ in 0..3 {
            let (x, y) = spot(room, &mut dice);
            now += 20;
            house.told.push(Told {
                text: format!("This is the {name}."),
                at: Some(time(now)),
                source: "asr".into(),
                entity: Some("Anna".into()),
                robot_pose: pose(x + dice.noise(0.05), y + dice.noise(0.05), 0.05, PoseOf::Robot),
                ..Told::default()
            });
        }
    }
    let (mut x, mut y) = spot(0, &mut dice);
    for day in 0..size.days {
        let (from, to) = (BEGIN + day * 86_400, BEGIN + day * 86_400 + size.active_s);
        now = from;
        // Until when it is lost, by how much, and whether it knows.
        let (mut lost_until, mut off, mut knows) = (0, (0.0, 0.0), true);
        while now < to {
            let room = dice.below(8);
            for _ in 0..3 {
                let (goal_x, goal_y) = spot(room, &mut dice);
                let steps = ((goal_x - x).hypot(goal_y - y) / 1.0).ceil().max(1.0);
                let (from_x, from_y) = (x, y);
                for step in 1..=steps as i64 {
                    let part = step as f64 / steps;
                    (x, y) = (from_x + (goal_x - from_x) * part, from_y + (goal_y - from_y) * part);
                    now += 2;
                    if now >= lost_until && dice.share() < 0.0008 {
                        lost_until = now + 60;
                        off = (dice.noise(3.0), dice.noise(3.0));
                        knows = dice.share() < 0.95;
                    }
                    let lost = now < lost_until;
                    house.lost_s += if lost { 2 } else { 0 };
                    see(&mut house, &mut dice, &places, &mut last_told, (x, y), now, lost.then_some((off, knows)));
                }
            }
            // People put things elsewhere, about four times a day each.
            for (thing, place) in places.iter_mut().enumerate() {
                let robot_is_there = room_of(place.0, place.1) == room_of(x, y);
                if !robot_is_there && dice.share() < 4.0 * 40.0 / 43_200.0 {
                    *place = spot(dice.below(8), &mut dice);
                    last_told[thing] = i64::MIN;
                }
            }
        }
        house.end = now;
    }
    house
}

/// What a detector tells: things in the same room within its range, each at most every half minute.
fn see(
    house: &mut House,
    dice: &mut Dice,
    places: &[(f64, f64)],
    last_told: &mut [i64],
    (x, y): (f64, f64),
    now: i64,
    lost: Option<((f64, f64), bool)>,
) {
    for (thing, (own_x, own_y)) in places.iter().copied().enumerate() {
        let range = (own_x - x).hypot(own_y - y);
        let in_view = range < 2.5 && room_of(own_x, own_y) == room_of(x, y) && dice.share() < 0.8;
        if !in_view || now.saturating_sub(last_told[thing]) < 30 {
            continue;
        }
        last_told[thing] = now;
        let (off, deviation) = match lost {
            Some((off, true)) => (off, 2.5),
            Some((off, false)) => (off, 0.1),
            None => ((0.0, 0.0), 0.1),
        };
        let seen_x = own_x + off.0 + dice.noise(0.05 + 0.04 * range);
        let seen_y = own_y + off.1 + dice.noise(0.05 + 0.04 * range);
        house.told.push(Told {
            id: Some(format!("d-{now}-{thing}")),
            kind: Kind::Object,
            text: format!("a {}", THINGS[thing]),
            at: Some(time(now)),
            source: "detector".into(),
            entity: Some(THINGS[thing].into()),
            confidence: Some(0.9),
            pose: pose(seen_x, seen_y, deviation, PoseOf::Thing),
            ..Told::default()
        });
        // A sighting without a usable position is none that a position can be asked of.
        if !matches!(lost, Some((_, true))) {
            house.seen.entry(THINGS[thing]).or_default().push(Sighting { at: now, x: own_x, y: own_y });
        }
    }
}

/// Of one kind of question.
#[derive(Debug, Default)]
pub struct Score {
    pub asked: usize,
    pub answered: usize,
    /// Metres, of those with a pose.
    pub errors_m: Vec<f64>,
    pub right_room: usize,
    /// Seconds.
    pub errors_s: Vec<f64>,
}

impl Score {
    /// Takes in an answer to a question for the place of a thing.
    pub fn add(&mut self, answer: &memory_core::Answer, truth: Sighting) {
        self.asked += 1;
        let (Some(words), Some(pose)) = (&answer.answer, &answer.pose) else { return };
        self.answered += 1;
        self.errors_m.push((pose.x - truth.x).hypot(pose.y - truth.y));
        let room = room_of(truth.x, truth.y).unwrap_or("nowhere");
        self.right_room += usize::from(words.to_lowercase().contains(room));
        let at = answer.evidence.first().map_or(0, |first| first.span.start.as_micros() / 1_000_000);
        self.errors_s.push((at - truth.at).abs() as f64);
    }

    pub fn room_share(&self) -> f64 {
        self.right_room as f64 / self.asked.max(1) as f64
    }

    pub fn median_m(&self) -> f64 {
        quantile(&self.errors_m, 0.5)
    }

    pub fn in_time(&self) -> f64 {
        self.errors_s.iter().filter(|error| **error <= 10.0).count() as f64 / self.asked.max(1) as f64
    }
}

pub fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = ((sorted.len().saturating_sub(1)) as f64 * part).round() as usize;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

/// The last sighting at or before a moment.
pub fn last_before(seen: &[Sighting], at: i64) -> Option<Sighting> {
    seen.iter().rev().find(|sighting| sighting.at <= at).copied()
}
