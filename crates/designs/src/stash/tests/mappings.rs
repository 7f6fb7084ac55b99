//! Mappings that cannot be, or must wait.

use super::super::{Access, Mapping, MappingError, MappingRefusal, Refusal, StashConfig};
use super::world::World;
use super::{array, of_lane_0, pages, place};

fn add(world: &mut World, cta: u8, mapping: &Mapping) -> Result<u8, MappingRefusal> {
    world.stash.add_map(cta, mapping, &pages, &place(), world.now)
}

fn wrong(world: &mut World, mapping: &Mapping) -> String {
    match add(world, 0, mapping) {
        Err(Refusal::Wrong(error)) => MappingError::to_string(&error),
        other => panic!("expected an error, found {other:?}"),
    }
}

#[test]
fn errors_name_kernel_line_and_values() {
    let mut world = World::new(&StashConfig::paper(), 1);
    let at = |text: &str| format!("kernel test, line 7: {text}");
    assert_eq!(wrong(&mut world, &array(32, 0, 4)), at("stashBase must be a multiple of 64, found 0x20"),);
    assert_eq!(wrong(&mut world, &array(0, 2, 4)), at("globalBase must be a multiple of 4, found 0x2"));
    assert_eq!(
        wrong(&mut world, &array(16_320, 0, 17)),
        at("the tile must end in the 16384 bytes of the stash, found its end at 16388"),
    );
    assert_eq!(
        wrong(&mut world, &array(0, 1024 * 4096 - 8, 4)),
        at("the tile must lie in memory, found 0x400000, which is not mapped"),
    );
    let rows = Mapping { stride_size: 4096, num_strides: 65, ..array(0, 0, 1) };
    assert_eq!(wrong(&mut world, &rows), at("the mappings of a CTA must have at most 64 pages, found 65"),);
    for map in 0..4 {
        assert_eq!(add(&mut world, 0, &array(128 * map, 0x1000 * map, 32)), Ok(map as u8));
    }
    assert_eq!(wrong(&mut world, &array(1024, 0, 4)), at("a CTA may add 4 mappings, found one more"));
    let overlap = add(&mut world, 1, &array(64, 0x9000, 4)).expect_err("the chunk is taken");
    let Refusal::Wrong(error) = overlap else { panic!("it can never be") };
    assert_eq!(
        error.to_string(),
        at("a mapping must have chunks of its own, found bytes 0 to 128 mapped already"),
    );
}

#[test]
fn accesses_outside_their_mapping_are_refused() {
    let mut world = World::new(&StashConfig::paper(), 1);
    add(&mut world, 0, &array(64, 0, 20)).expect("it can be added");
    let mut refused = |map, address| {
        let access: Access = of_lane_0(1, Some(map), address, None);
        match world.stash.offer(&access, world.now) {
            Err(Refusal::Wrong(why)) => why.to_string(),
            other => panic!("expected an error, found {other:?}"),
        }
    };
    assert_eq!(refused(1, 64), "expected one of the 1 mappings that the CTA has added, found index 1");
    assert_eq!(refused(0, 144), "expected a word of the mapping's bytes 64 to 144, found address 144");
    assert_eq!(refused(0, 66), "expected a word of the mapping's bytes 64 to 144, found address 66");
}

#[test]
fn add_map_waits_for_the_oldest_entry() {
    let mut world = World::new(&StashConfig::paper(), 1);
    // The first entry's thread block leaves dirty data, then 63 others leave none.
    add(&mut world, 0, &array(0, 0, 16)).expect("there is room");
    world.stash.offer(&of_lane_0(1, Some(0), 0, Some(9)), world.now).expect("nothing is in its way");
    while !world.is_quiet() {
        world.tick();
    }
    world.stash.cta_end(0);
    for n in 1..64 {
        add(&mut world, 0, &array(64, 0x1000 * (n % 8), 16)).expect("there is room");
        world.stash.cta_end(0);
    }
    assert_eq!(add(&mut world, 0, &array(128, 0x2000, 16)), Err(Refusal::Busy));
    assert_eq!(world.stash.writing_back(), 1, "the oldest entry's word is on its way");
    while !world.is_quiet() {
        world.tick();
    }
    assert_eq!(add(&mut world, 0, &array(128, 0x2000, 16)), Ok(0));
    assert_eq!(world.read(super::physical(0)), 9);
}

#[test]
fn add_map_evicts_from_the_vp_map() {
    let mut world = World::new(&StashConfig::paper(), 1);
    let rows = |base| Mapping { stride_size: 4096, num_strides: 40, ..array(0, base, 1) };
    add(&mut world, 0, &rows(0)).expect("there is room");
    world.stash.offer(&of_lane_0(1, Some(0), 8, Some(5)), world.now).expect("nothing is in its way");
    while !world.is_quiet() {
        world.tick();
    }
    // 40 pages of a running thread block and 40 more.
    assert_eq!(add(&mut world, 1, &Mapping { stash_base: 1024, ..rows(0x40_000) }), Err(Refusal::Busy));
    world.stash.cta_end(0);
    assert_eq!(add(&mut world, 1, &Mapping { stash_base: 1024, ..rows(0x40_000) }), Err(Refusal::Busy));
    while !world.is_quiet() {
        world.tick();
    }
    assert_eq!(add(&mut world, 1, &Mapping { stash_base: 1024, ..rows(0x40_000) }), Ok(0));
    assert_eq!(world.read(super::physical(2 * 4096)), 5);
}

/// The pages of the old addresses go with them, so both need not fit at once (4.1.4: active mappings must).
#[test]
fn chg_map_takes_the_place_of_its_own_pages() {
    let mut world = World::new(&StashConfig::paper(), 1);
    let rows = |base| Mapping { stride_size: 4096, num_strides: 40, ..array(0, base, 1) };
    add(&mut world, 0, &rows(0)).expect("there is room");
    world.stash.offer(&of_lane_0(1, Some(0), 8, Some(5)), world.now).expect("nothing is in its way");
    while !world.is_quiet() {
        world.tick();
    }
    let changed = world.stash.change_map((0, 0), &rows(0x40_000), &pages, &place(), world.now);
    assert_eq!(changed, Ok(()));
    assert_eq!(world.stash.writing_back(), 1);
    while !world.is_quiet() {
        world.tick();
    }
    assert_eq!(world.read(super::physical(2 * 4096)), 5);
}
