//! The name that a misspelled one was probably meant to be.

/// Returns the nearest of some names: one that differs in few letters, or else the only one with the most words in
/// common. `None` if all are too different.
pub fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let written = normal(name);
    let most = (written.len() / 3).max(1);
    let distances = names.iter().map(|it| (distance(&written, &normal(it)), *it));
    match distances.min_by_key(|(distance, _)| *distance) {
        Some((distance, nearest)) if distance <= most => Some(nearest),
        _ => with_most_words(name, names),
    }
}

/// Letters without case, and with one kind of hyphen.
fn normal(name: &str) -> Vec<char> {
    name.chars().flat_map(char::to_lowercase).map(|it| if it == '-' { '_' } else { it }).collect()
}

/// The only name with the most words in common.
fn with_most_words<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let words = |name: &str| -> Vec<String> {
        let text: String = normal(name).into_iter().collect();
        text.split('_').map(|word| word.trim_end_matches('s').to_string()).filter(|word| word.len() > 2).collect()
    };
    let written = words(name);
    let shared = |name: &str| words(name).iter().filter(|word| written.contains(word)).count();
    let counts: Vec<(usize, &str)> = names.iter().map(|it| (shared(it), *it)).filter(|(count, _)| *count > 0).collect();
    let most = counts.iter().map(|(count, _)| *count).max()?;
    let mut best = counts.into_iter().filter(|(count, _)| *count == most).map(|(_, name)| name);
    let first = best.next();
    if best.next().is_some() { None } else { first }
}

/// The number of letters to insert, delete, replace or swap with the next one.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut rows: [Vec<usize>; 3] = [Vec::new(), (0..=other.len()).collect(), Vec::new()];
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let replaced = rows[1][j] + usize::from(a != b);
            let mut least = replaced.min(rows[1][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                least = least.min(rows[0][j - 1] + 1);
            }
            row.push(least);
        }
        rows[2] = row;
        rows.rotate_left(1);
    }
    rows[1].last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_single_changes() {
        let of = |one: &str, other: &str| distance(&normal(one), &normal(other));
        assert_eq!(of("", ""), 0);
        assert_eq!(of("", "abc"), 3);
        assert_eq!(of("abc", ""), 3);
        assert_eq!(of("kitten", "sitting"), 3);
        assert_eq!(of("authoriser", "authorizer"), 1);
        assert_eq!(of("widht", "width"), 1);
        assert_eq!(of("doorName", "door_name"), 1);
        assert_eq!(of("door-name", "door_name"), 0);
    }

    #[test]
    fn the_nearest_name_differs_least_or_shares_most_words() {
        let names = ["width", "lock_group_ids", "retention_in_days", "color", "back_color"];
        assert_eq!(nearest("with", &names), Some("width"));
        assert_eq!(nearest("lock_groups", &names), Some("lock_group_ids"));
        assert_eq!(nearest("retention", &names), Some("retention_in_days"));
        assert_eq!(nearest("colour", &names), Some("color"));
        assert_eq!(nearest("front_color_of_door", &names), None, "two names share one word");
        assert_eq!(nearest("zebra", &names), None);
        assert_eq!(nearest("zebra", &[]), None);
    }
}
