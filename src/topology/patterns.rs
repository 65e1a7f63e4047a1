//! Patterns of object keys, in which `*` matches any text. `subnet.*` matches all subnets.

/// Whether a pattern matches a slot.
pub(super) fn matches(pattern: &str, slot: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == slot };
    let Some(mut left) = slot.strip_prefix(first) else { return false };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    // The first occurrence of each part leaves the most text for the parts after it.
    for part in middle.split('*') {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

/// Whether some text matches both patterns.
pub(super) fn overlap(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    // `row[at]` is whether the rest of `one` and `other[at..]` overlap. The rows start at the end of `one`.
    let mut row: Vec<bool> = (0..=other.len()).map(|at| other[at..].iter().all(|byte| *byte == b'*')).collect();
    for mine in one.iter().rev() {
        let after = row.clone();
        for at in (0..=other.len()).rev() {
            let theirs = other.get(at);
            row[at] = match (mine, theirs) {
                (b'*', None) => after[at],
                (b'*', Some(_)) => after[at] || row[at + 1],
                (_, Some(b'*')) => after[at] || row[at + 1],
                (_, theirs) => theirs == Some(mine) && after[at + 1],
            };
        }
    }
    row[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_text() {
        for (pattern, slot) in [
            ("vpc", "vpc"),
            ("*", "vpc"),
            ("subnet.*.0", "subnet.private_app.0"),
            ("*private*", "subnet.private_app.0"),
            ("*a*a", "aaa"),
            ("s*t.*", "subnet.public.1"),
            ("**", ""),
        ] {
            assert!(matches(pattern, slot), "{pattern} {slot}");
        }
        for (pattern, slot) in
            [("vpc", "vpcs"), ("", "vpc"), ("a*a", "a"), ("*b*a", "ab"), ("subnet.*.1", "subnet.public.0")]
        {
            assert!(!matches(pattern, slot), "{pattern} {slot}");
        }
    }

    #[test]
    fn patterns_overlap_if_a_text_matches_both() {
        for (one, other) in [
            ("eip.*", "eip.*"),
            ("eip.3", "eip.*"),
            ("*", "vpc"),
            ("*.0", "eip.*"),
            ("*private*", "subnet.private_app.*"),
            ("route.GET /*", "route.*"),
            ("*x*", "route.*"),
            ("", "*"),
        ] {
            assert!(overlap(one, other) && overlap(other, one), "{one} {other}");
        }
        for (one, other) in [("eips.*", "eip.*"), ("vpcs", "vpc"), ("*y", "*x"), ("", "vpc"), ("vpc*x", "vpc")] {
            assert!(!overlap(one, other) && !overlap(other, one), "{one} {other}");
        }
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let (pattern, slot) = ("*a".repeat(200), "a".repeat(150));
        assert!(!matches(&pattern, &slot));
        assert!(overlap(&pattern, "a*"));
    }
}
