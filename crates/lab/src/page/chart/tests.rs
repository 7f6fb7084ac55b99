use super::layout::{cut, tick};
use super::*;
use crate::grid::Mean;

#[test]
fn bars_are_broken_when_a_few_are_many_times_the_others() {
    let mut heights = vec![1.0; 30];
    assert_eq!(cut(heights.clone()), None);
    heights.extend([3.9, 2.5]);
    assert_eq!(cut(heights.clone()), None, "less than four times the others");
    heights.push(26.0);
    assert_eq!(cut(heights.clone()), Some(2.0));
    heights.push(-1.0);
    assert_eq!(cut(heights), None, "what lies below zero is shown whole");
    assert_eq!((cut(vec![]), cut(vec![0.0, 0.0, 5.0])), (None, None));
}

#[test]
fn numbers_on_the_axis_are_short() {
    let found: Vec<String> =
        [0.0, -0.0, 0.1 + 0.2, 1.0, 2.5, 100.0, -40.0, 2.5e7, 2e-4].into_iter().map(tick).collect();
    assert_eq!(found, ["0", "0", "0.3", "1", "2.5", "100", "-40", "2.5e7", "2e-4"]);
}

fn grid(cells: Vec<Vec<Cell>>) -> Grid {
    let mut grid = Grid {
        title: "cycles <a thousand>".into(),
        rows: (0..cells.len()).map(|row| format!("workload-{row}")).collect(),
        columns: vec!["a".into(), "b".into()],
        cells,
        means: vec![],
    };
    grid.add_mean(Mean::Arithmetic);
    grid
}

fn drawn(chart: &Chart) -> String {
    chart.markup().expect("there is a number").into_string()
}

fn grouped(cells: Vec<Vec<Cell>>) -> Chart {
    Chart::grouped(&grid(cells), "cycles", vec!["s-a".into(), "s-b".into()])
}

#[test]
fn means_come_first_and_every_bar_says_what_it_is() {
    let chart = grouped(vec![vec![Ok(1.0), Ok(2.0)]; 3]);
    let names: Vec<&str> = chart.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["mean", "workload-0", "workload-1", "workload-2"]);
    let drawing = drawn(&chart);
    assert!(drawing.contains("<title>workload-2, b: 2.000 cycles</title>"), "{drawing}");
    assert!(drawing.contains("cycles &lt;a thousand&gt;"));
    assert_eq!(drawing.matches("<g class=\"s-b\"").count(), 1);
}

#[test]
fn a_missing_number_leaves_a_gap() {
    let drawing = drawn(&grouped(vec![vec![Ok(1.0), Err("not run yet".into())], vec![Ok(1.0), Ok(2.0)]]));
    // Three bars of the two rows, two of the mean, which is over one of two.
    assert_eq!(drawing.matches("<title>").count(), 5);
    assert!(drawing.contains(">mean of 1 of 2</text>"));
    assert!(grouped(vec![]).markup().is_none());
}

#[test]
fn numbers_of_neighbouring_broken_bars_stand_at_different_heights() {
    let mut cells = vec![vec![Ok(1.0), Ok(1.0)]; 60];
    cells.push(vec![Ok(57.25), Ok(32.0)]);
    let drawing = drawn(&grouped(cells));
    let over = drawing.split("<g class=\"over\">").nth(1).unwrap().split("</g>").next().unwrap();
    let height = |number: &str| {
        let text = over.split("<text").find(|text| text.contains(&format!(">{number}<"))).expect(number);
        text.split(" y=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    assert_ne!(height("57.25"), height("32.00"));
}

#[test]
fn a_published_number_is_seen_even_if_no_bar_is_as_high() {
    let mut chart = grouped(vec![vec![Ok(1.0), Ok(2.0)]; 3]);
    chart.mark("mean", "b", Mark { value: 9.0, text: "published +800 %".into(), exact: true });
    chart.mark("nobody", "b", Mark { value: 90.0, text: "nowhere".into(), exact: true });
    let drawing = drawn(&chart);
    assert!(drawing.contains("<title>mean, b: published +800 %</title>"), "{drawing}");
    assert!(drawing.contains(">10</text>") && !drawing.contains("nowhere"));
    assert!(drawing.contains("<i class=\"tick\"></i>published</span>"));
}

#[test]
fn a_stack_that_lacks_a_part_is_left_out_and_several_are_numbered() {
    let mut grid = grid(vec![vec![Ok(1.0), Ok(2.0)], vec![Ok(1.0), Err("not run yet".into())]]);
    let parts: Vec<String> = vec!["x".into(), "y".into()];
    let drawing = drawn(&Chart::stacked(&grid, "", &parts, &["one".into()], &mut Palette::default()));
    // Two parts of the whole row's stack and of the mean's.
    assert_eq!(drawing.matches("<title>").count(), 4);
    assert!(!drawing.contains("Stacks: "));
    grid = self::grid(vec![vec![Ok(1.0), Ok(2.0)]]);
    let systems = ["one".into(), "two".into()];
    let drawing = drawn(&Chart::stacked(&grid, "", &["x".into()], &systems, &mut Palette::default()));
    assert!(drawing.contains("Stacks: 1 one, 2 two"), "{drawing}");
    assert!(drawing.contains("<title>workload-0, two, x: 2.000</title>"));
}
