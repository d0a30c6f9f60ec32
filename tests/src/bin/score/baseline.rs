//! Baselines are written in the benchmark's own pages; they are read from there, so that nothing here can go stale.

use std::collections::BTreeMap;
use std::path::Path;

/// The first table below a line that begins with `heading`: by the first cell of each row, the others by column title.
///
/// `None` if the page or the table is not there; a benchmark of another make has none.
pub fn table(page: &Path, heading: &str) -> Option<BTreeMap<String, BTreeMap<String, String>>> {
    let text = std::fs::read_to_string(page).ok()?;
    let mut lines = text.lines().skip_while(|line| !line.trim_start().starts_with(heading)).skip(1);
    let titles = cells(lines.find(|line| line.starts_with('|'))?);
    let mut rows = BTreeMap::new();
    for line in lines.take_while(|line| line.starts_with('|')).skip(1) {
        let mut row = cells(line).into_iter();
        let name = row.next()?.trim_matches('*').to_owned();
        rows.insert(name, titles.iter().skip(1).cloned().zip(row).collect());
    }
    (!rows.is_empty()).then_some(rows)
}

fn cells(line: &str) -> Vec<String> {
    line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_found_by_the_line_above_it() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.md");
        std::fs::write(&page, "**other** (%)\n\n| | n |\n|---|---|\n| x | 9 |\n\n**dev** (%)\n\n| | n | hit@1 |\n|---|---|---|\n| visual | 10 | 10.0 |\n| **all** | 40 | 32.5 |\n\ntext\n").unwrap();
        let found = table(&page, "**dev**").unwrap();
        assert_eq!(found["visual"]["hit@1"], "10.0");
        assert_eq!(found["all"]["n"], "40");
        assert_eq!(found.len(), 2);
        assert_eq!(table(&page, "**absent**"), None);
    }
}
