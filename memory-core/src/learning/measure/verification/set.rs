//! The test set: tasks as they were done, and what only looks like a task.

use crate::logic::{Action, normalise};
use crate::random::Xorshift;
use crate::{EventId, TimeSpan, Timestamp};

/// A task with the sessions that did it, each a list of steps.
#[derive(Debug, Clone)]
pub(super) struct VerifiedTask {
    pub goal: String,
    pub sessions: Vec<Vec<String>>,
}

/// Kind of the sessions of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DrawnSessions {
    /// Sessions of a task.
    True,
    /// The same steps in any order.
    Shuffled,
    /// Two tasks in turns.
    Interleaved,
    /// Talk with verbs.
    Talk,
    /// Sessions of another task, told under this goal.
    OtherGoal,
}

/// Draws tasks and orders; the same for the same seed.
pub(super) struct Draws(Xorshift);

impl Draws {
    pub fn new(seed: u64) -> Self {
        Self(Xorshift(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1))
    }

    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        usize::try_from((self.0.draw() >> 11) % count.max(1) as u64).unwrap_or(0)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// Draws `count` sessions of a kind around a task.
pub(super) fn sessions(
    kind: DrawnSessions,
    tasks: &[VerifiedTask],
    task: usize,
    count: usize,
    draws: &mut Draws,
) -> Vec<Vec<String>> {
    let other = (task + 1 + draws.below(tasks.len() - 1)) % tasks.len();
    let vocabulary = talk(draws);
    let own = some(&tasks[task], count, draws);
    match kind {
        DrawnSessions::True => own,
        DrawnSessions::Shuffled => own
            .into_iter()
            .map(|mut steps| {
                draws.shuffle(&mut steps);
                steps
            })
            .collect(),
        DrawnSessions::Interleaved => {
            let others = some(&tasks[other], count, draws);
            own.iter().zip(&others).map(|(one, other)| in_turns(one, other, draws)).collect()
        }
        DrawnSessions::OtherGoal => some(&tasks[other], count, draws),
        DrawnSessions::Talk => (0..count)
            .map(|_| {
                let mut said = vocabulary.clone();
                draws.shuffle(&mut said);
                said.truncate(3 + draws.below(4));
                said
            })
            .collect(),
    }
}

/// Some sessions of a task.
fn some(task: &VerifiedTask, count: usize, draws: &mut Draws) -> Vec<Vec<String>> {
    let mut sessions = task.sessions.clone();
    draws.shuffle(&mut sessions);
    sessions.truncate(count);
    sessions
}

/// Two sessions at once, each in its own order.
fn in_turns(one: &[String], other: &[String], draws: &mut Draws) -> Vec<String> {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let mut steps = Vec::new();
    while one.len() + other.len() > 0 {
        let next = if draws.below(one.len() + other.len()) < one.len() { one.next() } else { other.next() };
        steps.extend(next.cloned());
    }
    steps
}

const VERBS: &str = "look at,talk about,point at,hold,carry,touch,move,ask for,laugh about,walk past,sit near,wait for,listen to,\
    read about,clean,open,take,put away,find,drop";
const THINGS: &str = "the window,the phone,the weather,a neighbour,the newspaper,the cat,the radio,a chair,the train,the football,\
    the garden,a cup,the stairs,the music,a letter,the holidays,the door,a cake,the television,the children,a bag,the traffic,\
    the lamp,the baby,the mirror,a song,the calendar,the dog,the rain,a joke";

/// Draws talk of some people: eight actions, none of which leads to another.
fn talk(draws: &mut Draws) -> Vec<String> {
    let (verbs, things): (Vec<&str>, Vec<&str>) = (VERBS.split(',').collect(), THINGS.split(',').collect());
    let mut said: Vec<String> = Vec::new();
    while said.len() < 8 {
        let phrase = format!("{} {}", verbs[draws.below(verbs.len())], things[draws.below(things.len())]);
        if !said.contains(&phrase) {
            said.push(phrase);
        }
    }
    said
}

/// Everything that may be said in [talk](DrawnSessions::Talk), for making vectors of it.
pub(super) fn all_talk() -> impl Iterator<Item = String> {
    VERBS.split(',').flat_map(|verb| THINGS.split(',').map(move |thing| format!("{verb} {thing}")))
}

/// Puts the sessions of an item, one after the other, as actions. `number`: that of the session, and of its time.
pub(super) fn actions(
    steps: &[String],
    goal: Option<&str>,
    number: u64,
    first_event: u64,
) -> impl Iterator<Item = Action> {
    (0..).zip(steps.iter()).filter(|(_, text)| !normalise(text).is_empty()).map(move |(place, text)| {
        let start = Timestamp::from_micros(1_000_000 * (900 * i64::try_from(number).unwrap_or(0) + 15 * place));
        let end = Timestamp::from_micros(start.as_micros() + 12_000_000);
        let event = EventId(first_event + u64::try_from(place).unwrap_or(0));
        let mut action = Action::new(event, text.as_str(), TimeSpan::new(start, end));
        action.session = Some(format!("s{number}"));
        action.goal = goal.map(str::to_owned);
        action
    })
}

/// Tasks of a household, for where no data set is at hand: each session leaves out a step in five, and in one of ten two
/// steps change places.
#[cfg(test)]
pub(super) fn made_up(sessions: usize) -> Vec<VerifiedTask> {
    let mut draws = Draws::new(7);
    let task = |line: &&str| {
        let (goal, steps) = line.split_once(": ").unwrap_or((line, ""));
        let steps: Vec<String> = steps.split(", ").map(str::to_owned).collect();
        let mut session = || loop {
            let mut done: Vec<String> = steps.iter().filter(|_| draws.below(5) > 0).cloned().collect();
            if done.len() > 2 && draws.below(10) == 0 {
                let at = draws.below(done.len() - 1);
                done.swap(at, at + 1);
            }
            if done.len() > 1 {
                return done;
            }
        };
        VerifiedTask { goal: goal.to_owned(), sessions: (0..sessions).map(|_| session()).collect() }
    };
    MADE_UP.iter().map(task).collect()
}

/// A goal and its steps.
#[cfg(test)]
const MADE_UP: [&str; 16] = [
    "make tea: fill the kettle, boil the water, put a tea bag into the pot, pour the water over it, let it steep, pour a cup",
    "make coffee: grind the beans, fold a filter, heat the carafe, spoon the powder in, press the start button",
    "bake bread: weigh the flour, mix in the yeast, knead the dough, let it rise, heat the oven, bake the loaf",
    "change a bicycle tyre: turn the bike over, unbolt the wheel, lever off the tyre, fit a new tube, pump it up, bolt it on",
    "water the plants: fetch the watering can, fill it at the tap, water the ficus, water the orchid, empty the saucers",
    "wash the car: hose it down, foam the roof, scrub the rims, rinse the foam off, dry it with a leather",
    "charge the robot: drive to the dock, line up with the plate, lower the contacts, check the current, go to sleep",
    "plant a tree: dig a hole, loosen the soil, set the sapling, fill in earth, tread it down, tie it to a stake",
    "iron a shirt: set up the board, heat the iron, press the collar, press the sleeves, press the front, hang it up",
    "feed the cat: rinse the bowl, open a tin, spoon out the food, call the cat, put the lid on the rest",
    "wrap a present: measure the paper, cut the paper, lay the box on it, fold the edges, tape the seam, tie a ribbon",
    "print a page: switch the printer on, load a sheet, open the document, choose a format, press print, take the sheet out",
    "hang a picture: mark the height, drill the wall, push in a plug, turn in a screw, hang the frame, level it",
    "empty the bins: tie up the sack, lift out the sack, carry it to the yard, throw it in the container, put in a new sack",
    "cook rice: rinse the grains, measure twice the water, bring it to the boil, turn down the heat, fluff it with a fork",
    "deliver a parcel: scan the label, lift the parcel, ride to the floor, ring the bell, hand it over, report the delivery",
];
