//! Each design keeps the contract of its door.

use own_designs::{blocking_l1d, direct_mapped_llc, ideal_network, ported_registers};
use strata_designs::contract::{Contract, Outcome, l1d, llc, network, register_file};
use strata_engine::Cited;
use strata_memory::doors::{L1dDesign, L1dSite, LlcDesign, LlcSite, RegisterFileDesign};

fn cited<T>(value: T) -> Cited<T> {
    Cited::new(value, "test")
}

fn kept(what: &str, outcome: Result<Outcome, String>) {
    outcome.unwrap_or_else(|fault| panic!("{what}: {fault}"));
}

#[test]
fn the_blocking_l1d() {
    for (lines, hit_latency, write_buffer) in [(1, 1, 1), (8, 20, 2), (64, 4, 32)] {
        let config = blocking_l1d::Config {
            lines: cited(lines),
            hit_latency_cycles: cited(hit_latency),
            write_buffer: cited(write_buffer),
        };
        let make =
            &mut |node, slices| config.build(L1dSite { node, slices, seed: 1, held_loads: 0 }).unwrap();
        kept("alone", l1d::check_with_skips(&Contract::alone(1), make));
        kept("shared", l1d::check_with_skips(&Contract::shared(2), make));
    }
}

#[test]
fn the_direct_mapped_llc() {
    for (lines, latency, queue) in [(1, 1, 1), (16, 30, 4), (64, 5, 16)] {
        let config = direct_mapped_llc::Config {
            lines: cited(lines),
            latency_cycles: cited(latency),
            queue: cited(queue),
        };
        let make = &mut || config.build(LlcSite::alone(1)).unwrap();
        kept("shared", llc::check_with_skips(&Contract::shared(1), make));
    }
}

#[test]
fn the_ideal_network() {
    for (latency, room) in [(1, 1), (8, 64)] {
        let config = ideal_network::Config { latency_cycles: cited(latency), room_packets: cited(room) };
        kept("crowded", network::check_with_skips(&network::Contract::crowded(1), &config));
        kept("sparse", network::check_with_skips(&network::Contract::sparse(2), &config));
    }
}

#[test]
fn the_ported_registers() {
    for (reads, writes) in [(1, 1), (6, 2), (64, 64)] {
        let config = ported_registers::Config { read_ports: cited(reads), write_ports: cited(writes) };
        let make = &mut |site| config.build(site).unwrap();
        kept("dense", register_file::check_with_skips(&register_file::Contract::dense(1), make));
        kept("wide", register_file::check_with_skips(&register_file::Contract::wide(2), make));
    }
}
