use memory_core::Boundary;

use super::*;

/// What a scene looks like at a moment, in seconds.
#[derive(Clone, Copy)]
enum SceneLook {
    /// A textured scene under this much of its light, in percent; another number is another scene.
    Scene(u32, u32),
    Snow,
}

fn random(seed: u32) -> u8 {
    let mut x = seed.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
    x ^= x >> 15;
    x = x.wrapping_mul(0x85eb_ca6b);
    x ^= x >> 13;
    x = x.wrapping_mul(0xc2b2_ae35);
    (x >> 24) as u8
}

fn picture(look: SceneLook, number: u32) -> Luma {
    let pixel = |i: u32| match look {
        SceneLook::Scene(scene, light) => {
            let (x, y) = (i % 64 / 8, i / 64 / 6);
            u8::try_from(u32::from(random(scene * 1000 + y * 8 + x)) * light / 100).unwrap_or(u8::MAX)
        }
        SceneLook::Snow => random(number * 10_000 + i),
    };
    Luma::new(64, 36, (0..64 * 36).map(pixel).collect()).unwrap()
}

/// What segments of 10 s say of a scene at so many pictures a second, in milliseconds.
fn told(length: f64, fps: f64, look: impl Fn(f64) -> SceneLook) -> Vec<Vec<(&'static str, u128, u128)>> {
    use memory_core::segment::Segmenter;
    let config = SegmenterConfig::default();
    let (mut segmenter, mut signal) = (Segmenter::new(config.clone()), PictureSignal::new(&config));
    for number in 0..(length * fps) as u32 {
        let at = f64::from(number) / fps;
        let luma = picture(look(at), number);
        let at = Duration::from_secs_f64(at);
        let novelty = segmenter.push_luma(at, &luma);
        signal.push(at, &luma, novelty.ssim);
    }
    let mut told = Vec::new();
    for start in (0..length as u64).step_by(10).map(Duration::from_secs) {
        let end = (start + Duration::from_secs(10)).min(Duration::from_secs_f64(length));
        let stretches = signal.take(&Segment { start, end, boundary: Boundary::Length });
        let row = |s: &ConditionSpan| (s.condition.name(), s.start.as_millis(), s.end.as_millis());
        told.push(stretches.iter().map(row).collect());
    }
    told
}

fn lit(_: f64) -> SceneLook {
    SceneLook::Scene(1, 100)
}

#[test]
fn an_ordinary_scene_and_its_cuts_say_nothing() {
    assert_eq!(told(10.0, 10.0, lit), [vec![]]);
    assert_eq!(told(10.0, 10.0, |at| SceneLook::Scene((at * 10.0) as u32, 90)), [vec![]], "a new scene every picture");
}

#[test]
fn a_black_gap_is_told_within_a_frame_of_its_ends() {
    let gap = |at: f64| SceneLook::Scene(1, if (4.0..6.0).contains(&at) { 0 } else { 100 });
    assert_eq!(told(10.0, 10.0, gap), [vec![("black", 3950, 5950)]]);
    assert_eq!(told(10.0, 1.0, gap), [vec![("black", 3500, 5500)]]);
}

#[test]
fn one_black_or_dark_picture_says_nothing() {
    for light in [0, 15] {
        let blink = |at: f64| SceneLook::Scene(1, if (4.0..4.05).contains(&at) { light } else { 100 });
        for fps in [1.0, 10.0] {
            assert_eq!(told(10.0, fps, blink), [vec![]], "{light} {fps}");
        }
    }
}

#[test]
fn too_few_dark_pictures_at_the_end_say_nothing() {
    assert_eq!(told(10.0, 10.0, |at| SceneLook::Scene(1, if at < 9.45 { 100 } else { 15 })), [vec![]]);
    assert_eq!(
        told(10.0, 10.0, |at| SceneLook::Scene(1, if at < 8.45 { 100 } else { 15 })),
        [vec![("dark", 8450, 10_000)]]
    );
}

#[test]
fn a_light_that_goes_out_is_dark_until_it_is_back() {
    let lamp = |at: f64| SceneLook::Scene(1, if (4.0..8.0).contains(&at) { 25 } else { 100 });
    assert_eq!(told(10.0, 10.0, lamp), [vec![("dark", 3950, 7950)]]);
}

#[test]
fn a_light_that_fades_is_dark_in_the_end() {
    let fade = |at: f64| SceneLook::Scene(1, (100.0 - 15.0 * (at - 2.0).clamp(0.0, 6.0)) as u32);
    let told = told(10.0, 10.0, fade);
    let [(signal, start, end)] = told[0][..] else { panic!("{told:?}") };
    assert_eq!((signal, end), ("dark", 10_000));
    assert!((5500..7500).contains(&start), "{start}");
}

#[test]
fn a_flickering_lamp_is_one_stretch() {
    let flicker = |at: f64| {
        SceneLook::Scene(1, if (3.0..8.0).contains(&at) && ((at * 2.0) as u32).is_multiple_of(2) { 20 } else { 100 })
    };
    assert_eq!(told(10.0, 10.0, flicker), [vec![("dark", 2950, 7450)]]);
}

#[test]
fn bright_things_before_a_dark_ground_are_not_dark() {
    let mut signal = PictureSignal::new(&SegmenterConfig::default());
    let stage = (0..64 * 36).map(|i| if i % 64 < 4 { 240 } else { 2 }).collect();
    let stage = Luma::new(64, 36, stage).unwrap();
    for tenth in 0..100 {
        let lit = picture(SceneLook::Scene(1, 100), 0);
        let luma = if tenth < 50 { &lit } else { &stage };
        signal.push(Duration::from_millis(100 * tenth), luma, 0.9);
    }
    let segment = Segment { start: Duration::ZERO, end: Duration::from_secs(10), boundary: Boundary::Length };
    assert_eq!(signal.take(&segment), []);
}

#[test]
fn a_night_is_told_once_a_segment() {
    let night = told(40.0, 2.0, |_| SceneLook::Scene(1, 15));
    assert_eq!(night.len(), 4);
    for (i, events) in night.iter().enumerate() {
        let start = 10_000 * i as u128;
        assert_eq!(*events, [("dark", start, start + 10_000)]);
    }
}

#[test]
fn a_sliver_at_the_border_is_left_to_the_segment_with_the_rest() {
    let gap = |at: f64| SceneLook::Scene(1, if (9.8..13.0).contains(&at) { 0 } else { 100 });
    assert_eq!(told(20.0, 10.0, gap), [vec![], vec![("black", 10_000, 12_950)]]);
    let gap = |at: f64| SceneLook::Scene(1, if (9.0..10.2).contains(&at) { 0 } else { 100 });
    assert_eq!(told(20.0, 10.0, gap), [vec![("black", 8950, 10_000)], vec![]]);
}

#[test]
fn noise_is_told_and_no_other_change_is() {
    let disturbed = |at: f64| if (4.0..4.8).contains(&at) { SceneLook::Snow } else { lit(at) };
    assert_eq!(told(10.0, 10.0, disturbed), [vec![("noise", 3950, 4750)]]);
    let once = |at: f64| if (4.0..4.15).contains(&at) { SceneLook::Snow } else { lit(at) };
    assert_eq!(told(10.0, 10.0, once), [vec![]]);
}

#[test]
fn the_dark_ends_with_the_pictures_that_show_it() {
    let mut signal = PictureSignal::new(&SegmenterConfig::default());
    let black = picture(SceneLook::Scene(1, 0), 0);
    for at in [0, 1, 2, 60, 61] {
        signal.push(Duration::from_secs(at), &black, 1.0);
    }
    let segment = Segment { start: Duration::ZERO, end: Duration::from_secs(62), boundary: Boundary::Length };
    let told: Vec<_> = signal.take(&segment).iter().map(|s| (s.start.as_millis(), s.end.as_millis())).collect();
    assert_eq!(told, [(0, 3250), (58_750, 62_000)], "nobody saw what was between");
}
