//! The difference of two runs: one that is known by hand, and what has none.

use super::shown::{ESCAPED, EVIL, is_harmless};
use super::*;

/// A site with two results, and their keys.
fn site_of(records: [Record; 2]) -> (Tested, [Key; 2]) {
    let keys = [0, 1].map(|side: usize| records[side].job.key());
    let site = Tested::local(|folder| {
        for record in &records {
            store::put(folder, record).unwrap();
        }
    });
    (site, keys)
}

fn path([left, right]: &[Key; 2]) -> String {
    format!("/diff?left={left}&right={right}")
}

/// A section of a page.
fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("<section id=\"{id}\">")).expect("there is such a section");
    rest.split_once("</section>").unwrap().0
}

fn has_all(page: &str, expected: &[&str]) {
    for expected in expected {
        assert!(page.contains(expected), "no {expected} in {page}");
    }
}

#[tokio::test]
async fn the_one_counter_that_differs_is_named_and_no_other() {
    let (site, keys) =
        site_of([measured("saxpy", &[], 1000, 400), measured("saxpy", &["l1d.ways=8"], 1000, 100)]);
    let answer = site.get(&path(&keys)).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let page = &answer.text;
    let counters = section(page, "counters");
    assert_eq!(counters.matches("<code>").count(), 1, "{counters}");
    let row = ["<code>load_misses</code>", "data-value=\"400\"", "data-value=\"100\"", ">-300<", "-75.00 %"];
    has_all(counters, &row);
    let asked = section(page, "asked");
    assert_eq!(asked.matches("<code>").count(), 1, "{asked}");
    has_all(asked, &["<code>l1d.sram.ways</code>", ">4<", ">8<"]);
    has_all(page, &["<dt>change</dt><dd>0 %</dd>"]);
    assert!(!page.contains("problem"), "nothing is to be known before: {page}");
    let other_way = site.get(&path(&[keys[1].clone(), keys[0].clone()])).await.text;
    has_all(section(&other_way, "counters"), &[">+300<", "+300.0 %"]);
}

#[tokio::test]
async fn cycles_go_to_the_one_cause_that_differs() {
    let (site, keys) =
        site_of([measured("saxpy", &[], 1000, 400), measured("saxpy", &["l1d.ways=8"], 900, 400)]);
    let page = site.get(&path(&keys)).await.text;
    has_all(&page, &["<dt>change</dt><dd>-10.00 %</dd>", "<dd>1\u{202f}000</dd>", "<dd>900</dd>"]);
    // 27,000 slots of 30 a cycle on the left, 24,000 on the right.
    let cycles = section(&page, "cycles");
    has_all(
        cycles,
        &["waiting for memory", "data-value=\"900\"", "data-value=\"800\"", ">-100<", ">+100.0 %<"],
    );
    assert_eq!(cycles.matches("<td data-value=\"-100\">").count(), 1, "{cycles}");
}

#[tokio::test]
async fn what_no_result_says_is_left_to_a_command() {
    let other_version = |mut record: Record| {
        record.job.simulator = "0.0.1+other".into();
        record
    };
    let executed = |mut record: Record| {
        record.job.executed = true;
        record
    };
    let left = measured("saxpy", &[], 1000, 400);
    let ways = || measured("saxpy", &["l1d.ways=8"], 1000, 100);
    for (right, options, says) in [
        (ways(), &[" --first", " --attribute"][..], ""),
        (
            measured("gather", &["l1d.ways=8"], 1000, 400),
            &[" --first"],
            "Found saxpy (test) on the left and gather (test) on the right, expected the same program",
        ),
        (other_version(ways()), &[""], "of the simulator's versions "),
        (other_version(ways()), &[""], "simulator: found `0.0.1+other`, expected"),
        (executed(ways()), &[""], "found a CUDA program, which only `strata exec` runs"),
    ] {
        let (site, keys) = site_of([left.clone(), right]);
        let answer = site.get(&path(&keys)).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        has_all(&answer.text, &[says]);
        let command = section(&answer.text, "command");
        let [one, other] = &keys;
        let folder = site.folder.path().display();
        let lines: Vec<String> = options
            .iter()
            .map(|option| format!(">strata diff {one} {other} --store {folder}{option}</pre>"))
            .collect();
        assert_eq!(command.matches("<pre").count(), lines.len(), "{command}");
        has_all(command, &lines.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn what_is_no_pair_of_runs_is_refused_with_what_was_found_and_expected() {
    let profile = job("saxpy", "");
    let [left, right] = [measured("saxpy", &[], 1000, 400), measured("saxpy", &["l1d.ways=8"], 1000, 100)];
    let waits = measured("gather", &[], 1000, 0).job;
    let (site, [one, _]) = site_of([left, right]);
    let profile = put(site.folder.path(), profile, 1);
    let _sweep = store::announce(site.folder.path(), &[], std::iter::once(&waits), |_| false).unwrap();
    site.site.watch.look();
    let zeros = "0".repeat(32);
    let bad = "expected the key of a run: 32 digits, 0 to 9 and a to f";
    let evil = "%3Cscript%3Ealert(1)%3C/script%3E%22'%26%3Cimg+src%3Dx%3E";
    for (query, status, expected) in [
        (String::new(), 400, format!("left: found nothing, {bad}")),
        (format!("?left={one}"), 400, format!("right: found nothing, {bad}")),
        (format!("?left={one}&left={one}&right={one}"), 400, "expected left=KEY&amp;right=KEY".to_owned()),
        (format!("?left={one}&right=..%2fx"), 400, format!("right: found `../x`, {bad}")),
        (format!("?left={}&right={one}", &zeros[1..]), 400, format!("left: found `{}`, {bad}", &zeros[1..])),
        (format!("?left={one}&right={evil}"), 400, format!("right: found `{ESCAPED}")),
        (format!("?left={one}&right={}", "x".repeat(9999)), 400, format!("found `{}`", "x".repeat(80))),
        (
            format!("?left={one}&right={one}"),
            400,
            format!("found {one} twice, expected the keys of two runs"),
        ),
        (format!("?left={one}&right={zeros}"), 404, format!("no result of job <code>{zeros}</code>")),
        (format!("?left={}&right={one}", waits.key()), 404, "waits or runs in a".to_owned()),
        (format!("?left={zeros}&right={}", waits.key()), 404, "found 0 results, expected 2".to_owned()),
        (
            format!("?left={profile}&right={one}"),
            422,
            format!("{profile}: found a profile of saxpy, expected a run"),
        ),
    ] {
        let answer = site.get(&format!("/diff{query}")).await;
        assert_eq!(answer.status.as_u16(), status, "{query}: {}", answer.text);
        assert!(answer.text.contains(&expected), "{query}: no {expected} in {}", answer.text);
        assert!(is_harmless(&answer.text), "{query}: {}", answer.text);
    }
    for (with, status) in
        [(evil, 400), ("x", 400), (&zeros, 404), (&profile.to_string(), 422), (&one.to_string(), 200)]
    {
        let answer = site.get(&format!("/runs?with={with}")).await;
        assert_eq!(answer.status.as_u16(), status, "{with}: {}", answer.text);
        assert!(is_harmless(&answer.text), "{with}: {}", answer.text);
    }
}

#[tokio::test]
async fn two_runs_are_picked_by_links_alone() {
    let (site, [one, other]) =
        site_of([measured("saxpy", &[], 1000, 400), measured("saxpy", &["l1d.ways=8"], 1000, 100)]);
    let gather = put(site.folder.path(), measured("gather", &[], 1000, 400).job, 1);
    let profile = put(site.folder.path(), job("saxpy", ""), 1);
    site.site.watch.look();
    let from = format!("href=\"/runs?with={one}&amp;find=saxpy+test\"");
    has_all(&site.get(&format!("/run/{one}")).await.text, &[&from]);
    let runs = site.get("/runs").await.text;
    has_all(&runs, &[&from]);
    assert_eq!(runs.matches("/runs?with=").count(), 3, "profiles cannot be picked: {runs}");
    assert!(!site.get(&format!("/run/{profile}")).await.text.contains("/runs?with="));
    let picked = site.get(&format!("/runs?with={one}&find=saxpy+test")).await.text;
    let to = |right: &Key| format!("href=\"/diff?left={one}&amp;right={right}\"");
    has_all(&picked, &[&to(&other), &format!("<input type=\"hidden\" name=\"with\" value=\"{one}\">")]);
    assert_eq!(picked.matches("/diff?").count(), 1, "{picked}");
    has_all(&site.get(&format!("/runs?with={one}")).await.text, &[&to(&other), &to(&gather)]);
}

#[tokio::test]
async fn texts_of_both_results_are_escaped() {
    let evil = |cycles, misses| {
        let mut record = measured("saxpy", &[], cycles, misses);
        let job = &mut record.job;
        (job.workload, job.variant, job.ptx) =
            (format!("{EVIL}{cycles}"), EVIL.into(), format!("{EVIL}{misses}"));
        (job.system, job.overrides, job.simulator) = (Some(EVIL.into()), vec![EVIL.into()], EVIL.into());
        record.rows.push(Row {
            launch: None,
            group: EVIL.into(),
            counter: EVIL.into(),
            value: Value::Count(misses),
        });
        record.rows.push(Row {
            launch: Some(1),
            group: EVIL.into(),
            counter: "cycles".into(),
            value: Value::Count(cycles),
        });
        record
    };
    let (site, keys) = site_of([evil(1000, 400), evil(900, 100)]);
    let answer = site.get(&path(&keys)).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert!(answer.text.matches(ESCAPED).count() > 6, "{}", answer.text);
    assert!(is_harmless(&answer.text), "{}", answer.text);
    let picked = site.get(&format!("/runs?with={}", keys[0])).await;
    assert!(picked.text.contains(ESCAPED) && is_harmless(&picked.text), "{}", picked.text);
}
