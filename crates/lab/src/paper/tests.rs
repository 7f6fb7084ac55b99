use super::*;

#[test]
fn every_paper_that_comes_along_can_be_read_under_its_name() {
    for name in names() {
        assert_eq!(Paper::load(name).unwrap().name, name);
    }
}

#[test]
fn mistakes_are_named() {
    let good = "name = \"p\"\ntitle = \"t\"\nmachine = \"gtx480\"\nmean = \"geometric\"\n\
                [workloads]\nall = [\"saxpy\"]\n[systems]\nbase = {}\nother = { sets = [\"l1d.ways=8\"] }\n\
                [[figures]]\nid = \"1\"\ntitle = \"f\"\ndrawing = \"grouped-bars\"\nmetrics = [\"ipc\"]\n\
                systems = [\"base\", \"other\"]\nnormalise = { system = \"base\" }\n\
                [measured]\na = { kind = \"change\", metric = \"ipc\", system = \"other\", over = \"base\" }\n";
    let parse = |text: &str| Paper::parse(Path::new("p.toml"), text);
    assert_eq!(parse(good).unwrap().figures.len(), 1);
    for (from, to, expected) in [
        (
            "metrics = [\"ipc\"]",
            "metrics = [\"ipcc\"]",
            "p.toml: figure 1: no metric `ipcc`, expected one of ",
        ),
        (
            "[\"base\", \"other\"]",
            "[\"bass\"]",
            "p.toml: figure 1: no system `bass`, expected one of base, other",
        ),
        (
            "{ system = \"base\" }",
            "{ system = \"x\" }",
            "p.toml: figure 1: normalise: no system `x` in the figure",
        ),
        ("[\"ipc\"]", "[\"ipc\", \"cycles\"]", "p.toml: figure 1: metrics: found 2, expected 1, or several"),
        ("id = \"1\"", "id = \"1\"\nworkloads = \"few\"", "p.toml: figure 1: no set of workloads `few`"),
        (
            "id = \"1\"",
            "id = \"1\"\nclaims = [\"b\"]",
            "p.toml: claim `b` is shown, but `measured` does not say",
        ),
        ("id = \"1\"", "idd = \"1\"", "p.toml:11:1: unknown field `idd`"),
    ] {
        let error = parse(&good.replacen(from, to, 1)).unwrap_err();
        assert!(error.starts_with(expected), "{from} -> {to}: {error}");
    }
    let error = Paper::load("fuze").unwrap_err();
    assert_eq!(error, "no paper `fuze`, expected one of fuse or a file (*.toml)");
}

/// Workloads that a paper names but that do not exist yet are shown as not measured; this test lists them.
#[test]
fn fuse_names_every_workload_of_its_table_ii() {
    let paper = Paper::load("fuse").unwrap();
    let all = paper.workloads("all").unwrap();
    assert_eq!(all.len(), 21);
    let published = include_str!("../../data/papers/fuse-table-ii.csv");
    let table = &paper.tables[0];
    for line in published.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        assert!(all.iter().any(|name| name == fields[0]), "{line}");
        for (column, field) in [("APKI", 2), ("Bypass ratio", 3)] {
            let expected: f64 = fields[field].parse().unwrap();
            assert_eq!(table.columns[column].published[fields[0]], expected, "{line}");
        }
    }
    let known = all.iter().filter(|name| strata_workloads::find(name).is_some()).count();
    assert!(known >= 12, "{known}");
}

#[test]
fn fuse_shows_every_figure_of_its_evaluation() {
    let paper = Paper::load("fuse").unwrap();
    let ids: Vec<&str> = paper.figures.iter().map(|figure| figure.id.as_str()).collect();
    assert_eq!(
        ids,
        ["1a", "1b", "3a", "3b", "6", "7b", "13", "14", "15", "16", "17", "18a", "18b", "19", "20a", "20b"]
    );
}
