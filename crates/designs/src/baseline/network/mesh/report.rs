//! Who waits for what, in words, when the machine is stuck.

use strata_memory::doors::Direction;

use super::port::{Flight, Route};
use super::router::{Router, Rules, Traffic};
use super::topology::{LINK_NAMES, LINKS};

/// Adds a sentence for each packet that waits in a router, and for each that cannot enter it.
pub(super) fn router(
    direction: Direction,
    rules: &Rules,
    router: &Router,
    traffic: &Traffic,
    report: &mut Vec<String>,
) {
    let (column, row) = rules.grid.place(router.number);
    let name = format!("{}: router {} (column {column}, row {row})", direction.group(), router.number);
    for (number, channel) in router.channels.iter().enumerate() {
        let Some(route) = &channel.route else { continue };
        let flight = traffic.flights.get(route.flight);
        let wait = if router.waiting >> number & 1 == 1 {
            for_a_channel(rules, router, route, flight)
        } else if channel.flits.is_empty() {
            "for its next flit".to_owned()
        } else {
            for_the_switch(router, route)
        };
        report.push(format!(
            "{name}: {}: {} has waited since cycle {} {wait}",
            channel_name(rules, number),
            packet_name(flight),
            route.routed
        ));
    }
    for (place, injector) in router.injectors.iter().enumerate().filter(|(_, end)| end.inlet.waiting() > 0) {
        report.push(format!(
            "{name}: {} packets wait to enter at input {}",
            injector.inlet.waiting(),
            port_name(LINKS + place)
        ));
    }
}

fn for_a_channel(rules: &Rules, router: &Router, route: &Route, flight: &Flight) -> String {
    let number = usize::from(route.output);
    let output = &router.outputs[number];
    let holders: Vec<String> = output
        .behind
        .iter()
        .enumerate()
        .filter_map(|(channel, behind)| Some((channel, behind.held_by?)))
        .map(|(channel, holder)| format!("{channel} held by {}", channel_name(rules, usize::from(holder))))
        .collect();
    let stalled = number >= LINKS && router.ejectors[number - LINKS].stalled;
    let reason = if stalled {
        format!("node {} has no room for its {} flits", flight.packet.destination.0, flight.flits)
    } else if holders.is_empty() {
        format!("none has room for its {} flits", flight.flits)
    } else {
        holders.join(", ")
    };
    format!("for a virtual channel of output {}: {reason}", port_name(number))
}

fn for_the_switch(router: &Router, route: &Route) -> String {
    let (output, channel) = (usize::from(route.output), usize::from(route.channel));
    let credits = router.outputs[output].behind[channel].credits;
    let what = if output < LINKS && credits == 0 { "a credit" } else { "its turn" };
    format!("for {what} of output {}, virtual channel {channel}", port_name(output))
}

fn channel_name(rules: &Rules, number: usize) -> String {
    let (input, channel) = (number / rules.channels(), number % rules.channels());
    format!("input {}, virtual channel {channel}", port_name(input))
}

fn packet_name(flight: &Flight) -> String {
    format!("the packet of node {} to node {}", flight.packet.source.0, flight.packet.destination.0)
}

/// A link's name, or the number of a node's port.
fn port_name(port: usize) -> String {
    LINK_NAMES.get(port).map_or_else(|| format!("of node port {}", port - LINKS), ToString::to_string)
}
