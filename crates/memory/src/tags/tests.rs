use super::*;
use crate::line::ByteMask;
use crate::mshr::MshrId;
use crate::replacement;

fn touch(line: u64) -> Touch {
    Touch { line: LineAddress(line), ..Touch::default() }
}

fn array(sets: usize, ways: usize, index: SetIndex) -> Sets {
    let geometry = Geometry { sets, ways, index, replacement: replacement::lru() };
    Sets::new(geometry, Stream::new(1, "tags"))
}

#[test]
fn sets_of_lines() {
    for (index, sets, line, expected) in [
        (SetIndex::Modulo, 48, 100, 4),
        (SetIndex::Bits, 32, 100, 4),
        (SetIndex::Xor, 32, 100, 7),
        (SetIndex::Xor, 1, 100, 0),
        (SetIndex::Bits, 1, 100, 0),
        // Modulo x^2 + x + 1: x^2 is x + 1, and x^3 is 1.
        (SetIndex::Ipoly, 4, 3, 3),
        (SetIndex::Ipoly, 4, 4, 3),
        (SetIndex::Ipoly, 4, 8, 1),
        (SetIndex::Ipoly, 4, 12, 2),
        (SetIndex::Ipoly, 1, 12, 0),
        // Bits of the address one at a time: those of the index, each of the hash, those that do not count.
        (SetIndex::Fermi, 32, 0x0080 >> 7, 0b00001),
        (SetIndex::Fermi, 32, 0x0800 >> 7, 0b10000),
        (SetIndex::Fermi, 32, 0x1000 >> 7, 0),
        (SetIndex::Fermi, 64, 0x1000 >> 7, 0b100000),
        (SetIndex::Fermi, 64, 0x2000 >> 7, 0b00001),
        (SetIndex::Fermi, 32, 0x4000 >> 7, 0b00010),
        (SetIndex::Fermi, 32, 0x8000 >> 7, 0b00100),
        (SetIndex::Fermi, 32, 0x10000 >> 7, 0),
        (SetIndex::Fermi, 32, 0x20000 >> 7, 0b01000),
        (SetIndex::Fermi, 32, 0x40000 >> 7, 0),
        (SetIndex::Fermi, 64, 0x80000 >> 7, 0b10000),
        (SetIndex::Fermi, 64, 0x100000 >> 7, 0),
        (SetIndex::Fermi, 64, 0xaff80 >> 7, 0b100000),
        (SetIndex::Fermi, 128, 0x3000 >> 7, 0b1100001),
        (SetIndex::Fermi, 8, 0x2880 >> 7, 0),
    ] {
        assert_eq!(array(sets, 2, index).set_of(LineAddress(line)), expected, "{index:?} {sets} {line}");
    }
}

#[test]
fn a_pinned_frame_is_never_a_victim() {
    let mut tags = array(4, 2, SetIndex::Bits);
    for line in [0, 4] {
        let frame = tags.victim(LineAddress(line)).unwrap();
        tags.install(frame, &touch(line));
    }
    let first = tags.find(LineAddress(0)).unwrap();
    assert_eq!(tags.victim(LineAddress(8)), Some(first), "the least recently used");
    tags.frames_mut().pin(first, MshrId(3));
    let second = tags.find(LineAddress(4)).unwrap();
    assert_eq!(tags.victim(LineAddress(8)), Some(second));
    tags.frames_mut().pin(second, MshrId(4));
    assert_eq!(tags.victim(LineAddress(8)), None);
    tags.frames_mut().unpin(first);
    assert_eq!(tags.victim(LineAddress(8)), Some(first));
}

#[test]
fn a_line_that_was_missed_is_found_once_it_has_come() {
    let mut tags = Sets::with_buffers(
        Geometry { sets: 4, ways: 2, index: SetIndex::Bits, replacement: replacement::lru() },
        1,
        Stream::new(1, "tags"),
    );
    for line in [LineAddress(5), LineAddress(5), LineAddress(9)] {
        assert_eq!(tags.look_for(line), None);
    }
    let frame = tags.victim(LineAddress(9)).unwrap();
    tags.install(frame, &touch(9));
    assert_eq!((tags.look_for(LineAddress(9)), tags.look_for(LineAddress(5))), (Some(frame), None));
    let buffer = tags.buffer(&touch(5));
    assert_eq!(tags.look_for(LineAddress(5)), None, "an extra frame is outside the sets");
    let frame = tags.victim(LineAddress(5)).unwrap();
    tags.move_from_buffer(buffer, frame);
    assert_eq!(tags.look_for(LineAddress(5)), Some(frame));
}

#[test]
fn dirty_frames_are_found_without_a_walk_over_sets() {
    let mut tags = array(64, 4, SetIndex::Bits);
    for line in [3, 70, 63] {
        let frame = tags.victim(LineAddress(line)).unwrap();
        tags.install(frame, &touch(line));
        tags.frames_mut().add_dirty(frame, ByteMask::range(4, 4));
    }
    let mut found = Vec::new();
    let mut from = FrameId(0);
    while let Some(frame) = tags.frames().next_dirty(from) {
        found.push(tags.frames().line(frame).unwrap().0);
        tags.frames_mut().clean(frame);
        from = frame;
    }
    assert_eq!(found, [3, 70, 63], "sets 3, 6 and 63");
    tags.frames_mut().invalidate_all();
    assert_eq!(tags.find(LineAddress(3)), None);
}

#[test]
fn faults_of_a_geometry_are_named() {
    let good = Geometry {
        sets: 4,
        ways: 4,
        index: SetIndex::Bits,
        replacement: Chosen::named("tree-plru").unwrap(),
    };
    assert_eq!(good.check(), Ok(()));
    assert!(Geometry { sets: 6, ..good.clone() }.check().is_err());
    assert!(Geometry { sets: 0, ..good.clone() }.check().is_err());
    assert!(Geometry { ways: 3, ..good.clone() }.check().is_err());
    assert!(Geometry { ways: 65, ..good.clone() }.check().is_err());
}
