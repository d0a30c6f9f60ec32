//! Parsers of the values that flags take.

use memory_core::{Near, Pose, RawPose};

use crate::json::pose::DEFAULT_FRAME;

pub(super) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

pub(super) fn near(text: &str) -> Result<Near, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let (numbers, frame) = match parts.as_slice() {
        [numbers @ .., frame] if numbers.len() == 3 => (numbers, *frame),
        numbers => (numbers, DEFAULT_FRAME),
    };
    let numbers: Vec<f64> = numbers.iter().filter_map(|number| number.parse().ok()).collect();
    let [x, y, radius] = numbers[..] else {
        return Err("expected three numbers of metres, such as 2.5,-1,3, and perhaps the name of the map".to_owned());
    };
    let near = Near { frame: frame.to_owned(), x, y, radius };
    near.check().map_err(|error| error.to_string())?;
    Ok(near)
}

pub(super) fn pose(text: &str) -> Result<Pose, String> {
    let mut parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let is_number = |part: &str| part.parse::<f64>().is_ok();
    let named = parts.len() > 2 && parts.last().is_some_and(|last| !is_number(last));
    let frame = parts.pop_if(|_| named).unwrap_or(DEFAULT_FRAME);
    let numbers: Vec<f64> = parts.iter().filter_map(|number| number.parse().ok()).collect();
    let (x, y, yaw) = match numbers[..] {
        _ if numbers.len() != parts.len() => (f64::NAN, 0.0, 0.0),
        [x, y] => (x, y, 0.0),
        [x, y, yaw] => (x, y, yaw),
        _ => (f64::NAN, 0.0, 0.0),
    };
    if x.is_nan() {
        return Err(
            "expected metres and perhaps a heading in radians, such as 2.5,-1 or 2.5,-1,1.57, and perhaps the \
                    name of the map"
                .to_owned(),
        );
    }
    RawPose { frame: frame.to_owned(), x, y, yaw, ..RawPose::default() }.check().map_err(|error| error.to_string())
}

pub(super) fn positive_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("expected a number of seconds above 0".to_owned()),
    }
}

pub(super) fn zero_to_one(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pose_is_metres_a_heading_and_a_map() {
        let read = |text: &str| pose(text).map(|pose| (pose.x, pose.y, pose.yaw, pose.frame));
        assert_eq!(read("2.5,-1"), Ok((2.5, -1.0, 0.0, "map".to_owned())));
        assert_eq!(read("2.5, -1, 1.5"), Ok((2.5, -1.0, 1.5, "map".to_owned())));
        assert_eq!(read("2.5,-1,1.5,cellar"), Ok((2.5, -1.0, 1.5, "cellar".to_owned())));
        assert_eq!(read("2.5,-1,cellar"), Ok((2.5, -1.0, 0.0, "cellar".to_owned())));
        for wrong in ["", "1", "1,b", "a,b", "1,2,3,4", "NaN,1", "inf,1", "99999999,1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
