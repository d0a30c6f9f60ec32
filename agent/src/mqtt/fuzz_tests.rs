//! A target of fuzzing: payloads of every topic, and topics.

use fuzzing::fuzz;
use memory_core::Timestamp;

use super::ask::read_question;
use super::commands::{self, CommandName};
use super::entities;
use super::episodes::{self, EventList};
use super::fields::{Fields, TimeBase};
use super::forget;
use super::gists;
use super::observe::read_observations;
use super::places;
use super::pose::read_robot_pose;
use super::procedure;
use super::reply::tests::message;
use super::reply::{Router, read_payload};
use super::search;
use super::topics::{ReplyPolicy, Topics};
use crate::config::mqtt::MqttLimits;

const PAYLOADS: [&str; 22] = [
    r#"{"question":"Where is the rake?","options":["shed","attic"],"since":"2026-11-20T08:00:00Z","until":1795161600,"top_k":7,"deadline_ms":900,"trace":true,"effort":"thorough","request_id":"q-1","reply_to":"reply/phone"}"#,
    "Where is the rake?",
    r#"{"question":"Who came?","near":{"frame":"map","x":1,"y":-2.5,"radius":3},"now":"yesterday 10:30"}"#,
    r#"[{"id":"a-1","kind":"sound","text":"a bell","at":"2026-11-20T08:00:00+01:00","until":"2026-11-20T08:00:02+01:00","source":"asr","entity":"Olga","attributes":{"place":"shed","n":[1,{"m":null}]},"confidence":0.9}]"#,
    r#"{"observations":[{"text":"The gate is shut.","pose":{"frame":"map","x":1.5,"y":-2,"yaw":0.1,"of":"robot","covariance":[1,0,0,0,1,0,0,0,1]}},{"kind":"entity","entity":"Olga"},7]}"#,
    r#"{"text":"She is here.","at":1795161600.25,"robot_pose":{"frame":"map","x":0,"y":0},"request_id":17}"#,
    r#"{"frame":"map","x":1.5,"y":-2.25,"z":0,"yaw":3.1,"at":1795161600.5}"#,
    r#"{"episodes":["ep-1",2],"request_id":"f"}"#,
    r#"{"since":"2026-11-20T08:00:00Z","until":"2026-11-20T09:00:00Z","preview":true}"#,
    r#"{"entity":"Olga"}"#,
    r#"{"state":"paused"}"#,
    "paused",
    r#"{"limit":50,"since":"last week","until":"now","source":"camera","before":"ep-17"}"#,
    r#"{"of":"events","after":"ev-5","limit":20,"near":{"frame":"map","x":0,"y":0,"radius":1e6}}"#,
    r#"{"of":"facts","about":"Olga","limit":5,"at":"2026-11-20"}"#,
    r#"{"of":"gists","level":"day","since":"2026-11-01","limit":3}"#,
    r#"{"episode":"ep-12","after":"ev-9","limit":10}"#,
    r#"{"event":"ev-7"}"#,
    r#"{"entity":"person-3","name":"Olga","merge":["person-4"]}"#,
    r#"{"name":"the shed","frame":"map","x":4,"y":5,"radius":1.5}"#,
    r#"{"query":"red \"gate post\"","order":"newest","kinds":["text","sound"],"limit":9,"after":"ev-3"}"#,
    r#"{"next":{"procedure":"prune","done":["take the shears","open the gate"]},"constraints":{"before":[["a","b"]]}}"#,
];

const TOPICS: [&str; 8] = [
    "engram/shed-1/ask",
    "engram/shed-1/observe",
    "engram/shed-1/pose",
    "engram/shed-1/cmd/forget",
    "engram/shed-1/answer/q-17",
    "engram/shed-1/instance",
    "reply/phone",
    "$SYS/broker/#/+",
];

#[test]
fn fuzz_payloads_of_every_topic() {
    let valid: Vec<&[u8]> = PAYLOADS.iter().map(|text| text.as_bytes()).collect();
    let names: Vec<&[u8]> = TOPICS.iter().map(|text| text.as_bytes()).collect();
    let topics = Topics::new("engram", "shed-1").unwrap();
    let policy = ReplyPolicy::new("engram", None);
    let router = Router { topics: &topics, policy: &policy };
    let limits = MqttLimits::default();
    let now = Timestamp::from_micros(1_795_161_600_000_000);
    let moment = TimeBase { now, zone: jiff::tz::TimeZone::get("Europe/Berlin").unwrap() };
    fuzz("MQTT payloads", 20_000, |random| {
        let bytes = random.mutated(&valid);
        let topic = String::from_utf8_lossy(&random.mutated(&names)).into_owned();
        drop((topics.parse(&topic), policy.check(&topic)));
        let mut message = message("");
        message.payload = bytes.clone().into();
        message.topic.clone_from(&topic);
        message.response_topic = (random.below(4) == 0).then_some(topic);
        message.redelivered = random.below(2) == 0;
        drop(read_question(&message, &router, &limits, &moment));
        drop(read_observations(&message, &router, &limits));
        router.route_unread(&message);
        drop(read_robot_pose(&bytes, now));
        let Ok(payload) = read_payload(&bytes) else { return };
        for name in CommandName::ALL {
            let Ok(map) = commands::fields(name.as_str(), &payload) else { continue };
            let fields = Fields(&map);
            drop((forget::read_forget(fields, &moment), commands::read_recording(fields)));
            drop((episodes::read_list(fields, &moment), episodes::read_get(fields), EventList::read(fields)));
            drop((gists::read_list(fields, &moment), entities::List::read(fields, &moment)));
            drop((entities::read_naming(fields), places::read(fields), procedure::read(fields)));
            drop(search::read(fields, &moment));
            if !matches!(name, CommandName::Recording) {
                break;
            }
        }
    });
}
