//! `strata claims`.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use strata_lab::claims::{self, Row, Verdict};
use strata_lab::report::{number, text};
use strata_lab::store::Store;
use strata_workloads::Size;

use crate::{Finished, print, sweep};

/// Arguments of `strata claims`.
#[derive(Args)]
pub struct ClaimsArguments {
    /// Only this paper's.
    paper: Option<String>,
    /// Write a JSON array of objects: id, published, measured, size, verdict, explanation.
    #[arg(long)]
    json: bool,
    /// The size whose results are looked at. Default: for each claim the largest at which it was measured.
    #[arg(long)]
    size: Option<String>,
    /// The store's folder.
    #[arg(long, value_name = "DIR", default_value = "strata-store")]
    store: PathBuf,
    /// Look at the results of another version of the simulator, or of `any`.
    #[arg(long, value_name = "VERSION")]
    simulator: Option<String>,
    /// Fail when a measured claim is not reproduced and nobody says why.
    #[arg(long)]
    check: bool,
}

/// Sizes, the largest first.
const SIZES: [Size; 3] = [Size::Paper, Size::Small, Size::Test];

/// Shows published numbers beside measured ones.
pub fn claims(arguments: &ClaimsArguments) -> Result<Finished, String> {
    let known = claims::papers();
    if let Some(paper) = &arguments.paper
        && !known.contains(paper)
    {
        return Err(format!("no claims of a paper `{paper}`, expected one of {}", known.join(", ")));
    }
    let store = sweep::open(&arguments.store, arguments.simulator.as_deref())?;
    let papers: Vec<&str> = arguments.paper.as_deref().into_iter().collect();
    let rows = match &arguments.size {
        Some(size) => {
            let size = size.parse().map_err(|error| format!("--size: {error}"))?;
            claims::rows(&papers, &store, size)?
        }
        None => largest(&papers, &store)?,
    };
    if arguments.json {
        let rows: Vec<Value> = rows.iter().map(object).collect();
        print(&format!("{}\n", serde_json::to_string_pretty(&rows).expect("numbers and strings serialise")))?;
    } else {
        print(&table(&rows))?;
    }
    let unexplained: Vec<&Row> = rows.iter().filter(|row| row.lacks_explanation()).collect();
    for row in &unexplained {
        eprintln!("{}: {} at size {}, and no explanation", row.claim.id, row.verdict, row.size);
    }
    Ok(if arguments.check && !unexplained.is_empty() { Finished::Wrong } else { Finished::Well })
}

/// For each claim the largest size at which it was measured; the smallest where it was not.
fn largest(papers: &[&str], store: &Store) -> Result<Vec<Row>, String> {
    let mut best: Option<Vec<Row>> = None;
    let held = store.sizes()?;
    // One that the store lacks has no numbers; the smallest says why.
    for size in SIZES.into_iter().filter(|size| held.contains(size) || *size == Size::Test) {
        let rows = claims::rows(papers, store, size)?;
        best = Some(match best {
            None => rows,
            Some(larger) => {
                let pair = larger.into_iter().zip(rows);
                pair.map(|(larger, row)| if larger.measured.is_some() { larger } else { row }).collect()
            }
        });
    }
    Ok(best.expect("there are sizes"))
}

fn object(row: &Row) -> Value {
    json!({
        "id": row.claim.id,
        "published": row.claim.value().expect("it was read before"),
        "measured": row.measured,
        "size": row.size.name(),
        "verdict": row.verdict.name(),
        "explanation": row.explanation,
    })
}

fn table(rows: &[Row]) -> String {
    let head = ["claim", "published", "measured", "unit", "size", "verdict"].map(str::to_owned).to_vec();
    let line = |row: &Row| {
        vec![
            row.claim.id.clone(),
            row.claim.published.clone(),
            row.measured.map_or("-".into(), number),
            row.claim.unit.clone(),
            if row.measured.is_some() { row.size.name().to_owned() } else { "-".into() },
            row.verdict.name().to_owned(),
        ]
    };
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows.iter().map(line)).collect();
    let counts: Vec<String> =
        [Verdict::Reproduced, Verdict::Direction, Verdict::Contradicted, Verdict::NotMeasured]
            .iter()
            .map(|verdict| {
                format!("{verdict}: {}", rows.iter().filter(|row| row.verdict == *verdict).count())
            })
            .collect();
    format!("{}{}\n", text::aligned(&lines), counts.join(", "))
}
