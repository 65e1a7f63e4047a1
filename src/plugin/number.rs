//! Parsing of Terraform's numbers, and their canonical form.

use super::Number;

/// Parses a number into canonical form. A whole number that fits is an `Int`, another number that a double represents
/// exactly is a `Float`, and any other number keeps its text. `None` if the text is not a finite decimal number.
///
/// Terraform never rounds: it sends 0.1 as text, because no double equals it, and expects the same text in return.
pub(super) fn parse(text: &str) -> Option<Number> {
    if let Ok(number) = text.parse::<i64>() {
        return Some(Number::Int(number));
    }
    let is_decimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    let approximation = text.parse::<f64>().ok().filter(|_| is_decimal)?;
    if approximation.is_finite() && significant(text) == significant(&format!("{approximation:.1074e}")) {
        return Some(from_f64(approximation));
    }
    Some(Number::Decimal(text.to_string()))
}

/// A finite double in canonical form.
pub(super) fn from_f64(number: f64) -> Number {
    // Both bounds are powers of two, so that the comparison and the cast are exact.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if number.fract() == 0.0 && (-LIMIT..LIMIT).contains(&number) {
        Number::Int(number as i64)
    } else {
        Number::Float(number)
    }
}

/// An unsigned number in canonical form.
pub(super) fn from_u64(number: u64) -> Number {
    i64::try_from(number).map_or_else(|_| Number::Decimal(number.to_string()), Number::Int)
}

impl From<f64> for Number {
    /// The shortest decimal number that is read as this `f64`: 0.1 and not the fraction that equals it.
    fn from(number: f64) -> Number {
        parse(&number.to_string()).unwrap_or(Number::Float(number))
    }
}

/// Sign, digits without leading and trailing zeros, and the power of ten of the last digit, which are equal for equal
/// numbers. An exponent that does not fit an `i64` becomes one that no double has.
fn significant(text: &str) -> (bool, String, i64) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let negative = mantissa.starts_with('-');
    let (whole, fraction) = mantissa.trim_start_matches(['-', '+']).split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches(['-', '+']));
    let trimmed = digits.trim_end_matches('0');
    let dropped = digits.len() - trimmed.len();
    let digits = trimmed.trim_start_matches('0').to_string();
    if digits.is_empty() {
        return (false, digits, 0);
    }
    let exponent = exponent.parse::<i64>().unwrap_or(i64::MAX / 2);
    // Saturated, it is far from the exponents of doubles.
    let power = exponent
        .saturating_add(i64::try_from(dropped).unwrap_or(0))
        .saturating_sub(i64::try_from(fraction.len()).unwrap_or(0));
    (negative, digits, power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_is_an_int_however_it_is_written() {
        for text in ["3", "3.0", "3e0", "0.3e1", "+3"] {
            assert_eq!(parse(text), Some(Number::Int(3)), "{text}");
        }
        assert_eq!(parse("-9223372036854775808"), Some(Number::Int(i64::MIN)));
        assert_eq!(parse("-0.0"), Some(Number::Int(0)));
    }

    #[test]
    fn a_fraction_is_a_float_only_if_a_double_holds_it_exactly() {
        assert_eq!(parse("1.5"), Some(Number::Float(1.5)));
        assert_eq!(parse("-0.125e0"), Some(Number::Float(-0.125)));
        assert_eq!(parse("1e20"), Some(Number::Float(1e20)));
        for text in ["0.1", "18446744073709551615", "3.14159265358979323846264338327950288419716939937510", "1e400"] {
            assert_eq!(parse(text), Some(Number::Decimal(text.to_string())), "{text}");
        }
    }

    #[test]
    fn exponents_at_the_limits_of_an_integer_are_parsed() {
        for text in [
            "1.5e-9223372036854775808",
            "0.1e-9223372036854775807",
            "-10e9223372036854775807",
            "1.5e99999999999999999999",
        ] {
            assert_eq!(parse(text), Some(Number::Decimal(text.to_string())), "{text}");
        }
    }

    #[test]
    fn text_that_is_not_a_finite_number_is_rejected() {
        for text in ["", "x", "inf", "NaN", "1.2.3", "-", "0x10", "1_000"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
