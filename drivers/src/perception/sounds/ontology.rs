//! The hierarchy of AudioSet's classes, and people's words for them.

use std::sync::Arc;

/// Family of a class of sounds. Sounds of one family at one time are one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::perception) enum Family {
    /// Told by the voice activity model, or with its words.
    Speech,
    /// What the other parts of perception tell, and what says nothing about the world.
    Untold,
    Voice,
    Laughter,
    Crying,
    Singing,
    Audience,
    Animal,
    Music,
    Weather,
    Water,
    Fire,
    Vehicle,
    Engine,
    Alarm,
    Blast,
    /// Everything else: a kind of its own for each class.
    Single(usize),
}

/// The first class of each stretch of classes, in AudioSet's own order, and its family; `None` for single ones.
const STRETCHES: &[(&str, Option<Family>)] = &[
    ("speech", Some(Family::Speech)),
    ("yell", Some(Family::Voice)),
    ("laughter", Some(Family::Laughter)),
    ("crying", Some(Family::Crying)),
    ("sigh", None),
    ("singing", Some(Family::Singing)),
    ("groan", None),
    ("clapping", Some(Family::Audience)),
    ("heartbeat", None),
    ("cheering", Some(Family::Audience)),
    ("children playing", Some(Family::Voice)),
    ("animal", Some(Family::Animal)),
    ("music", Some(Family::Music)),
    ("wind", Some(Family::Weather)),
    ("water", Some(Family::Water)),
    ("fire", Some(Family::Fire)),
    ("vehicle", Some(Family::Vehicle)),
    ("engine", Some(Family::Engine)),
    ("door", None),
    ("alarm", Some(Family::Alarm)),
    ("whistle", None),
    ("explosion", Some(Family::Blast)),
    ("wood", None),
    ("silence", Some(Family::Untold)),
    ("sound effect", None),
    ("pulse", Some(Family::Untold)),
    ("television", None),
    ("field recording", Some(Family::Untold)),
];

/// Classes that stand above all others of their family.
const GENERAL: &[&str] = &[
    "animal",
    "pets",
    "wild animals",
    "livestock",
    "fowl",
    "insect",
    "music",
    "musical instrument",
    "vehicle",
    "motor vehicle",
    "engine",
    "alarm",
    "water",
];

/// Classes that stand above a few others: a barking dog is a dog.
const KINDS: &[&str] = &[
    "dog",
    "dogs",
    "cat",
    "horse",
    "cattle",
    "pig",
    "goat",
    "sheep",
    "chicken",
    "duck",
    "goose",
    "bird",
    "crow",
    "owl",
    "frog",
    "percussion",
    "car",
    "train",
    "rail transport",
    "aircraft",
    "emergency vehicle",
    "telephone",
    "crowd",
];

/// Phrase for a class, and its name in a list. The others are "a sound of …".
const SAYINGS: &[(&str, &str)] = &[
    ("yell", "Someone is yelling"),
    ("whoop", "Someone is whooping"),
    ("whispering", "Someone is whispering"),
    ("laughter", "Someone is laughing"),
    ("snicker", "Someone is laughing"),
    ("crying", "Someone is crying"),
    ("singing", "Someone is singing"),
    ("choir", "A choir is singing"),
    ("chant", "People are chanting"),
    ("rapping", "Someone is rapping"),
    ("humming", "Someone is humming"),
    ("whistling", "Someone is whistling"),
    ("snoring", "Someone is snoring"),
    ("cough", "Someone is coughing"),
    ("sneeze", "Someone is sneezing"),
    ("footsteps", "Footsteps are heard"),
    ("run", "Someone is running"),
    ("chewing", "Someone is chewing"),
    ("clapping", "Hands are clapping"),
    ("applause", "An audience is applauding"),
    ("cheering", "A crowd is cheering"),
    ("chatter", "People are chattering"),
    ("crowd", "A crowd is heard"),
    ("children playing", "Children are playing"),
    ("animal", "An animal is heard"),
    ("pets", "A pet is heard"),
    ("wild animals", "A wild animal is heard"),
    ("livestock", "Livestock is heard"),
    ("dog", "A dog is heard"),
    ("dogs", "Dogs are heard"),
    ("bark", "A dog is barking"),
    ("bow-wow", "A dog is barking"),
    ("yip", "A dog is yipping"),
    ("howl", "A dog is howling"),
    ("growling", "An animal is growling"),
    ("whimper dog", "A dog is whimpering"),
    ("cat", "A cat is heard"),
    ("purr", "A cat is purring"),
    ("meow", "A cat is meowing"),
    ("caterwaul", "A cat is wailing"),
    ("horse", "A horse is heard"),
    ("neigh", "A horse is neighing"),
    ("cattle", "Cattle are heard"),
    ("moo", "A cow is mooing"),
    ("oink", "A pig is oinking"),
    ("pig", "A pig is heard"),
    ("goat", "A goat is heard"),
    ("bleat", "A sheep or goat is bleating"),
    ("sheep", "A sheep is heard"),
    ("cluck", "A chicken is clucking"),
    ("chicken", "A chicken is heard"),
    ("cock-a-doodle-doo", "A rooster is crowing"),
    ("quack", "A duck is quacking"),
    ("duck", "A duck is heard"),
    ("goose", "A goose is heard"),
    ("roaring cats", "A lion or tiger is roaring"),
    ("roar", "An animal is roaring"),
    ("bird", "A bird is heard"),
    ("chirp", "A bird is chirping"),
    ("caw", "A crow is cawing"),
    ("crow", "A crow is heard"),
    ("owl", "An owl is heard"),
    ("hoot", "An owl is hooting"),
    ("insect", "An insect is heard"),
    ("cricket", "A cricket is chirping"),
    ("frog", "A frog is heard"),
    ("croak", "A frog is croaking"),
    ("music", "Music is playing"),
    ("wind", "Wind is heard"),
    ("wind noise", "Wind is heard"),
    ("rustling leaves", "Leaves are rustling"),
    ("thunder", "Thunder is heard"),
    ("thunderstorm", "Thunder is heard"),
    ("water", "Water is heard"),
    ("rain", "Rain is heard"),
    ("raindrop", "Rain is falling"),
    ("stream", "A stream is heard"),
    ("waterfall", "A waterfall is heard"),
    ("ocean", "The ocean is heard"),
    ("waves", "Waves are heard"),
    ("fire", "A fire is burning"),
    ("crackle", "Something is crackling"),
    ("vehicle", "A vehicle is heard"),
    ("motor vehicle", "A motor vehicle is heard"),
    ("car", "A car is heard"),
    ("honk", "A car horn is honking"),
    ("toot", "A car horn is honking"),
    ("air horn", "An air horn is heard"),
    ("car alarm", "A car alarm is ringing"),
    ("car passing by", "A car is passing by"),
    ("skidding", "Tires are skidding"),
    ("tire squeal", "Tires are squealing"),
    ("reversing beeps", "A reversing vehicle is beeping"),
    ("truck", "A truck is heard"),
    ("bus", "A bus is heard"),
    ("emergency vehicle", "The siren of an emergency vehicle is heard"),
    ("police car", "A police siren is heard"),
    ("ambulance", "An ambulance siren is heard"),
    ("fire engine", "A fire engine's siren is heard"),
    ("motorcycle", "A motorcycle is heard"),
    ("train", "A train is heard"),
    ("train whistle", "A train whistle is blowing"),
    ("train horn", "A train horn is blowing"),
    ("aircraft", "An aircraft is heard"),
    ("helicopter", "A helicopter is heard"),
    ("bicycle", "A bicycle is heard"),
    ("skateboard", "A skateboard is heard"),
    ("engine", "An engine is running"),
    ("lawn mower", "A lawn mower is running"),
    ("chainsaw", "A chainsaw is running"),
    ("engine starting", "An engine is starting"),
    ("idling", "An engine is idling"),
    ("door", "A door is heard"),
    ("doorbell", "A doorbell is ringing"),
    ("ding-dong", "A doorbell is ringing"),
    ("sliding door", "A sliding door is heard"),
    ("slam", "Something slams shut"),
    ("knock", "Someone is knocking"),
    ("tap", "Someone is tapping"),
    ("squeak", "Something squeaks"),
    ("dishes", "Dishes are clattering"),
    ("cutlery", "Cutlery is clinking"),
    ("chopping", "Someone is chopping food"),
    ("frying", "Food is frying"),
    ("microwave oven", "A microwave oven is running"),
    ("blender", "A blender is running"),
    ("water tap", "A water tap is running"),
    ("hair dryer", "A hair dryer is running"),
    ("toilet flush", "A toilet is flushed"),
    ("vacuum cleaner", "A vacuum cleaner is running"),
    ("keys jangling", "Keys are jangling"),
    ("typing", "Someone is typing"),
    ("computer keyboard", "Someone is typing on a keyboard"),
    ("writing", "Someone is writing"),
    ("alarm", "An alarm is ringing"),
    ("telephone", "A telephone is heard"),
    ("telephone bell ringing", "A telephone is ringing"),
    ("ringtone", "A telephone is ringing"),
    ("alarm clock", "An alarm clock is ringing"),
    ("siren", "A siren is heard"),
    ("buzzer", "A buzzer is sounding"),
    ("smoke detector", "A smoke detector is beeping"),
    ("fire alarm", "A fire alarm is ringing"),
    ("whistle", "A whistle is blowing"),
    ("clock", "A clock is heard"),
    ("tick", "A clock is ticking"),
    ("tick-tock", "A clock is ticking"),
    ("mechanical fan", "A fan is running"),
    ("air conditioning", "Air conditioning is running"),
    ("printer", "A printer is running"),
    ("tools", "Tools are being used"),
    ("hammer", "Someone is hammering"),
    ("sawing", "Someone is sawing"),
    ("drill", "Someone is drilling"),
    ("power tool", "A power tool is running"),
    ("explosion", "An explosion is heard"),
    ("gunshot", "A gunshot is heard"),
    ("fireworks", "Fireworks are heard"),
    ("glass", "Glass is heard"),
    ("shatter", "Glass is shattering"),
    ("splash", "Water is splashing"),
    ("drip", "Water is dripping"),
    ("pour", "A liquid is poured"),
    ("boiling", "Water is boiling"),
    ("beep", "Something is beeping"),
    ("ding", "A bell dings"),
    ("creak", "Something creaks"),
    ("clatter", "Something clatters"),
    ("television", "A television is heard"),
    ("radio", "A radio is heard"),
];

/// The families of a model's classes, from their names in AudioSet's order. The classes of another model are each a kind of
/// their own.
pub(in crate::perception) fn families(labels: &[Arc<str>]) -> Vec<Family> {
    let mut families = Vec::with_capacity(labels.len());
    let (mut stretch, mut current) = (0, None);
    for (class, label) in labels.iter().enumerate() {
        if let Some((first, family)) = STRETCHES.get(stretch)
            && **label == **first
        {
            (current, stretch) = (*family, stretch + 1);
        }
        families.push(current.unwrap_or(Family::Single(class)));
    }
    if stretch < STRETCHES.len() {
        return (0..labels.len()).map(Family::Single).collect();
    }
    families
}

/// How much a class says beside others of its family: the more general it is, the less.
pub(in crate::perception) fn telling(label: &str) -> f32 {
    if GENERAL.contains(&label) {
        0.2
    } else if KINDS.contains(&label) {
        0.6
    } else {
        1.0
    }
}

/// Returns the phrase for a class, without the full stop.
pub(in crate::perception) fn saying(label: &str) -> String {
    let known = SAYINGS.iter().find(|(name, _)| *name == label);
    known.map_or_else(|| format!("A sound of {label} is heard"), |(_, saying)| (*saying).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_between_two_firsts_are_of_one_family() {
        let mut labels: Vec<Arc<str>> = STRETCHES.iter().map(|(first, _)| Arc::from(*first)).collect();
        let after = |labels: &[Arc<str>], first: &str| labels.iter().position(|label| **label == *first).unwrap() + 1;
        labels.insert(after(&labels, "animal"), Arc::from("bark"));
        labels.insert(after(&labels, "door"), Arc::from("slam"));
        let families = families(&labels);
        assert_eq!(families[after(&labels, "animal")], Family::Animal);
        assert_eq!(families[after(&labels, "door")], Family::Single(after(&labels, "door")));
        assert_eq!(families[0], Family::Speech);
    }

    #[test]
    fn a_model_with_other_classes_has_no_families() {
        let labels: Vec<Arc<str>> = ["bell", "horn"].map(Arc::from).to_vec();
        assert_eq!(families(&labels), [Family::Single(0), Family::Single(1)]);
        assert_eq!(saying("bell"), "A sound of bell is heard");
    }
}
