//! What `getInferLibVersion` says.

use std::fmt;

/// Two families share the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::encoders) enum Kind {
    /// TensorRT.
    TensorRt,
    /// TensorRT for RTX, which counts from 1 again.
    Rtx,
}

/// A version of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::encoders) struct Version {
    /// Number in the library's own form.
    pub number: i32,
    pub kind: Kind,
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
    /// Present since version 10.0.
    pub build: Option<i32>,
}

impl Version {
    /// 8502 is TensorRT 8.5.2, 100300 is 10.3.0, and 10701 is TensorRT-RTX 1.7.1.
    pub(super) fn decode(number: i32, build: Option<i32>) -> Self {
        let whole = number.unsigned_abs();
        let (kind, unit) = match whole {
            0..10_000 => (Kind::TensorRt, 1000),
            10_000..100_000 => (Kind::Rtx, 10_000),
            _ => (Kind::TensorRt, 10_000),
        };
        let (major, rest) = (whole / unit, whole % unit);
        Self { number, kind, major, minor: rest / 100, patch: rest % 100, build }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.kind == Kind::Rtx { "TensorRT-RTX" } else { "TensorRT" };
        write!(f, "{name} {}.{}.{}", self.major, self.minor, self.patch)?;
        self.build.map_or(Ok(()), |build| write!(f, ".{build}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_ways_of_counting_are_told_apart() {
        let told = |number, build| Version::decode(number, build).to_string();
        assert_eq!(told(8502, None), "TensorRT 8.5.2");
        assert_eq!(told(8601, None), "TensorRT 8.6.1");
        assert_eq!(told(100_300, Some(26)), "TensorRT 10.3.0.26");
        assert_eq!(told(101_602, None), "TensorRT 10.16.2");
        assert_eq!(told(110_400, None), "TensorRT 11.4.0");
        assert_eq!(told(10_701, None), "TensorRT-RTX 1.7.1", "not TensorRT 10");
        assert_eq!(Version::decode(0, None).major, 0);
    }
}
