//! The poses of events: the table `poses`.

use redb::{ReadTransaction, ReadableTable};
use serde::{Deserialize, Serialize};

use super::draft::{Changes, Draft};
use super::told_places::{self, RENAMES, ToldPlace};
use crate::index::{PlaceMap, PositionIndex};
use crate::language::english::space::named_place;
use crate::store::envelope::RecordType;
use crate::store::event_set::EventSet;
use crate::store::failure::{Failure, Result, if_sound};
use crate::store::records::{EventBody, decode_attributes};
use crate::store::tables::{self, ReadTables};
use crate::{Covariance, Event, EventId, Kind, Pose, PoseError, PoseOf, Value};

pub(crate) const POSE: RecordType = RecordType { table: "poses", tag: 13, version: 1 };

/// A row of `poses`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PoseRow {
    pub frame: String,
    pub x: f64,
    pub y: f64,
    pub z: f64,
    pub yaw: f64,
    pub covariance: Option<[f64; 6]>,
    pub of: PoseOf,
    /// Whether its sender said it. Otherwise it is where the robot was, and no part of what was told.
    pub told: bool,
    /// The place that was named here.
    pub place: Option<String>,
}

impl PoseRow {
    pub(crate) fn from_pose(pose: Pose, told: bool) -> Self {
        let Pose { frame, x, y, z, yaw, covariance, of } = pose;
        Self { frame, x, y, z, yaw, covariance: covariance.map(|Covariance(numbers)| numbers), of, told, place: None }
    }

    pub(crate) fn into_pose(self) -> Pose {
        let Self { frame, x, y, z, yaw, covariance, of, .. } = self;
        Pose { frame, x, y, z, yaw, covariance: covariance.map(Covariance), of }
    }
}

/// The pose that is kept with a told observation: what its sender says, else where the robot was.
pub(super) fn admit(told: Option<Pose>, robot: Option<Pose>) -> std::result::Result<Option<PoseRow>, PoseError> {
    if let Some(pose) = told {
        pose.check()?;
        return Ok(Some(PoseRow::from_pose(pose, true)));
    }
    // An observation is not lost for where the robot was.
    Ok(robot.filter(|pose| pose.check().is_ok()).map(|pose| PoseRow::from_pose(pose, false)))
}

/// Returns the part of a pose that belongs to the told observation.
pub(super) fn said(pose: Option<&PoseRow>) -> Option<Pose> {
    pose.filter(|pose| pose.told).cloned().map(PoseRow::into_pose)
}

/// The place that an event names where it happened: its attribute, or its words ("this is the kitchen").
fn place_named(body: &EventBody) -> Option<String> {
    let attributes = decode_attributes(body.attributes.as_deref()).ok()?;
    // A visit was concluded from the map; it does not draw it. A place can be renamed from anywhere.
    if attributes.get("derived") == Some(&Value::Bool(true)) || attributes.contains_key(RENAMES) {
        return None;
    }
    let place = attributes.get("place").and_then(Value::as_text).map(str::trim).filter(|place| !place.is_empty());
    place.map(str::to_owned).or_else(|| (body.kind == Kind::Text).then(|| named_place(&body.text)).flatten())
}

impl Draft<'_> {
    /// Adds a visible event with its pose to its episode.
    pub(super) fn insert_posed(&mut self, body: EventBody, pose: Option<PoseRow>) -> Result<u64> {
        let pose = pose.map(|pose| PoseRow { place: place_named(&body), ..pose });
        let told = ToldPlace::from_event(&body, pose.is_some());
        let id = self.insert_event(body)?;
        self.put_place(id, told)?;
        if let Some(pose) = pose {
            self.tables.poses.insert(id, tables::seal_numbered(POSE, id, &pose).as_slice())?;
            self.changes.posed.push((EventId(id), pose));
        }
        Ok(id)
    }

    /// Takes the pose of an event away and says how long its row was.
    pub(super) fn remove_pose(&mut self, id: u64) -> Result<usize> {
        if let Some(pose) = self.pose(id)? {
            self.changes.unposed.push((EventId(id), pose));
        }
        Ok(self.tables.poses.remove(id)?.map_or(0, |row| row.value().len()))
    }

    /// The pose of an event. A damaged one counts as none: what was told stays what it is.
    pub(super) fn pose(&self, id: u64) -> Result<Option<PoseRow>> {
        Ok(if_sound(row(&*self.tables.poses, id))?.flatten())
    }

    /// The digest of an event that is stored, its pose included.
    pub(super) fn stored_digest(&self, id: u64, body: &EventBody) -> Result<crate::store::records::Digest> {
        Ok(body.digest(said(self.pose(id)?.as_ref()).as_ref()))
    }
}

impl ReadTables {
    /// The pose of an event.
    pub(crate) fn pose(&self, id: u64) -> Result<Option<PoseRow>> {
        self.poses.as_ref().map_or(Ok(None), |table| row(table, id))
    }

    /// An event with its pose; without it where its record is damaged.
    pub(crate) fn posed(&self, event: Event) -> Result<Event> {
        let pose = if_sound(self.pose(event.id.0))?.flatten().map(PoseRow::into_pose);
        Ok(Event { pose, ..event })
    }
}

fn row(table: &impl ReadableTable<u64, &'static [u8]>, id: u64) -> Result<Option<PoseRow>> {
    table.get(id)?.map(|row| tables::open_numbered(POSE, id, row.value())).transpose()
}

/// Positions of visible events, and named places. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Positions {
    pub index: PositionIndex,
    pub places: PlaceMap,
}

impl Positions {
    /// Takes in what a transaction changed.
    pub(super) fn apply(&mut self, changes: &mut Changes) {
        // Names that are told after a rename in the same transaction are those of other places.
        for rename in std::mem::take(&mut changes.renamed) {
            self.places.rename(rename);
        }
        self.append(std::mem::take(&mut changes.posed));
        if !changes.unposed.is_empty() {
            self.index.hide(&changes.hidden);
        }
        for (event, pose) in &changes.unposed {
            if let Some(place) = &pose.place {
                self.places.remove(*event, place, &pose.frame, pose.x, pose.y);
            }
        }
        for event in &changes.unrenamed {
            self.places.unrename(*event);
        }
    }

    fn append(&mut self, posed: Vec<(EventId, PoseRow)>) {
        for (event, pose) in &posed {
            if let Some(place) = &pose.place {
                self.places.add(*event, place, &pose.frame, pose.x, pose.y);
            }
        }
        self.index.append(posed.into_iter().map(|(id, pose)| (id, pose.frame, pose.x, pose.y)));
    }
}

/// Reads the positions of all visible events.
pub(super) fn positions(transaction: &ReadTransaction, live: &EventSet) -> Result<Positions> {
    let mut positions = Positions::default();
    told_places::renames(transaction, live)?.into_iter().for_each(|rename| positions.places.rename(rename));
    let Some(table) = tables::poses(transaction)? else { return Ok(positions) };
    let mut found = Vec::new();
    for entry in table.iter()? {
        let (key, value) = entry?;
        let id = key.value();
        if !live.contains(id) {
            continue;
        }
        match tables::open_numbered::<PoseRow>(POSE, id, value.value()) {
            Ok(row) => found.push((EventId(id), row)),
            Err(failure @ Failure::Damaged { .. }) => {
                tracing::error!(
                    problem = tables::describe(failure),
                    "a pose is damaged and left out; run `engram check`"
                );
            }
            Err(failure) => return Err(failure),
        }
    }
    positions.append(found);
    Ok(positions)
}

/// Verifies every row and says what is wrong.
pub(super) fn check(
    transaction: &ReadTransaction,
    is_visible: &dyn Fn(u64) -> bool,
    problem: &mut dyn FnMut(String),
) -> Result<u64> {
    let Some(table) = tables::poses(transaction)? else { return Ok(0) };
    let mut records = 0;
    for entry in table.iter()? {
        let (key, value) = entry?;
        let id = key.value();
        records += 1;
        match tables::open_numbered::<PoseRow>(POSE, id, value.value()) {
            Ok(row) if row.clone().into_pose().check().is_err() => {
                problem(format!("record {id} of poses: it decodes to no pose"));
            }
            Ok(_) => {}
            Err(failure) => problem(tables::describe(failure)),
        }
        if !is_visible(id) {
            problem(format!("record {id} of poses: the event is not visible"));
        }
    }
    Ok(records)
}
