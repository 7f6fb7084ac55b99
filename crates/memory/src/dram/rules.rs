//! The timing rules of a channel, from the parameters of a machine file.

use super::parameters::DramParameters;
use super::timing::{Command, Constraint, Level};

/// Makes all rules between two commands.
pub(super) fn constraints(parameters: &DramParameters) -> Vec<Constraint> {
    use Command::{Act, Pre, Rd, Ref, RefBank, Wr};
    use Level::{Bank, BankGroup, Channel};
    let t = &parameters.timing;
    let burst = *parameters.burst_cycles;
    // Bursts never overlap on the data bus, whatever CCD says.
    let ccd = (*t.ccd).max(burst);
    // The data bus changes its direction between the end of one burst and the beginning of the other.
    let read_to_write = (*t.cl + burst + *t.turnaround).saturating_sub(*t.wl).max(1);
    let end_of_write = *t.wl + burst;
    let rule = |level, after, before, cycles| Constraint { level, after, before, cycles };
    let mut rules = vec![
        rule(Bank, Act, Act, *t.rc),
        rule(Bank, Act, Rd, *t.rcd),
        rule(Bank, Act, Wr, *t.rcd),
        rule(Bank, Act, Pre, *t.ras),
        rule(Bank, Pre, Act, *t.rp),
        rule(Bank, Rd, Pre, *t.rtp),
        rule(Bank, Wr, Pre, end_of_write + *t.wr),
        rule(BankGroup, Rd, Rd, *t.ccd_l),
        rule(BankGroup, Wr, Wr, *t.ccd_l),
        rule(Channel, Rd, Rd, ccd),
        rule(Channel, Wr, Wr, ccd),
        rule(Channel, Rd, Wr, read_to_write),
        rule(Channel, Wr, Rd, end_of_write + *t.cdlr),
        rule(Channel, Act, Act, *t.rrd),
    ];
    let in_group = |cycles: &Option<_>, after, before, from| {
        cycles
            .as_ref()
            .map(|cycles: &strata_engine::Cited<u64>| rule(BankGroup, after, before, from + **cycles))
    };
    rules.extend(in_group(&t.rrd_l, Act, Act, 0));
    rules.extend(in_group(&t.cdlr_l, Wr, Rd, end_of_write));
    let Some(refresh) = &parameters.refresh else { return rules };
    let rfc = *refresh.rfc;
    rules.extend([
        rule(Channel, Pre, Ref, *t.rp),
        rule(Channel, Ref, Act, rfc),
        rule(Channel, Ref, Ref, rfc),
    ]);
    // The refresh of a bank opens rows in it, so for the other banks it counts as an activate.
    rules.extend([
        rule(Bank, Pre, RefBank, *t.rp),
        rule(Bank, Act, RefBank, *t.rc),
        rule(Bank, RefBank, Act, rfc),
        rule(Bank, RefBank, RefBank, rfc),
        rule(Channel, Act, RefBank, *t.rrd),
        rule(Channel, RefBank, Act, *t.rrd),
        rule(Channel, RefBank, RefBank, *t.rrd),
    ]);
    rules
}
