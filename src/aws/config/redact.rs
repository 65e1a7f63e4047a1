//! Redaction of secrets in messages and logs. AWS quotes the request in some errors: `SignatureDoesNotMatch` contains
//! the canonical request with the session token, `IncompleteSignature` contains the whole `Authorization` header, and
//! errors about malformed values contain the value.

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The replacement of a secret.
const HIDDEN: &str = "(hidden)";

/// The minimum length of a secret, in bytes. A secret key of AWS has 40 characters. Shorter values are those of
/// emulators, such as `test`, which may be ordinary words.
const SHORTEST: usize = 16;

/// The secrets, longest first, each in plain, percent-encoded and Base64 form. They belong to the process, because a
/// message has no reference to a provider configuration.
static SECRETS: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// Registers a secret, which [`redact`] replaces from now on.
pub(crate) fn register_secret(secret: &str) {
    if secret.len() < SHORTEST {
        return;
    }
    let mut secrets = SECRETS.write().unwrap_or_else(PoisonError::into_inner);
    for form in [secret.to_string(), percent_encoded(secret), STANDARD.encode(secret)] {
        if !secrets.contains(&form) {
            secrets.push(form);
        }
    }
    // A secret may be part of another one.
    secrets.sort_by_key(|form| std::cmp::Reverse(form.len()));
}

/// Replaces the registered secrets in a text, and all signatures and session tokens.
pub(crate) fn redact(text: &str) -> String {
    let mut text = Cow::Borrowed(text);
    for secret in SECRETS.read().unwrap_or_else(PoisonError::into_inner).iter() {
        if text.contains(secret.as_str()) {
            text = text.replace(secret.as_str(), HIDDEN).into();
        }
    }
    let text = redact_after(&text, "x-amz-security-token", |it| it.is_whitespace() || "&'\",;".contains(it));
    let text = redact_after(&text, "signature", |it| !it.is_ascii_hexdigit());
    redact_after(&text, "aws4-hmac-sha256 credential", |it| it == '\n' || it == '\'' || it == '"')
}

/// Replaces the value after a name, in any case, and a `:` or `=`. The value extends up to a character for which `ends`
/// is true.
fn redact_after(text: &str, name: &str, ends: impl Fn(char) -> bool) -> String {
    let lower = text.to_ascii_lowercase();
    let (mut shown, mut from) = (String::with_capacity(text.len()), 0);
    while let Some(at) = lower[from..].find(name) {
        let after = from + at + name.len();
        shown.push_str(&text[from..after]);
        from = after;
        let Some(value) = text[after..].strip_prefix([':', '=']) else { continue };
        let length = value.find(&ends).unwrap_or(value.len());
        if length > 0 {
            shown.push_str(&text[after..=after]);
            shown.push_str(HIDDEN);
            from = after + 1 + length;
        }
    }
    shown.push_str(&text[from..]);
    shown
}

fn percent_encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encoded =
        text.bytes().map(|byte| if is_plain(byte) { char::from(byte).into() } else { format!("%{byte:02X}") });
    encoded.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registered_secrets_are_redacted_in_every_encoding() {
        register_secret("tHis/Is+a=very secret token");
        register_secret("tHis/Is+a=very secret");
        for form in ["tHis/Is+a=very secret token", "tHis%2FIs%2Ba%3Dvery%20secret%20token"] {
            let hidden = redact(&format!("Value '{form}' at 'token' failed"));
            assert!(!hidden.contains("very"), "{hidden}");
            assert!(hidden.starts_with("Value '") && hidden.ends_with("' at 'token' failed"), "{hidden}");
        }
        let encoded = STANDARD.encode("tHis/Is+a=very secret token");
        assert_eq!(redact(&encoded), "(hidden)");
    }

    #[test]
    fn short_values_are_not_redacted() {
        register_secret("test");
        assert_eq!(redact("the test failed"), "the test failed");
    }

    #[test]
    fn only_secrets_are_redacted_in_a_quoted_request() {
        let quoted = "The Canonical String for this request should have been\n'POST\n/\n\nhost:ec2.amazonaws.com\n\
                      x-amz-date:20260101T000000Z\nx-amz-security-token:IQoJb3JpZ2luX2VjEA+/==\n\nhost;x-amz-date'";
        let hidden = redact(quoted);
        assert!(!hidden.contains("IQoJ") && hidden.contains("x-amz-security-token:(hidden)\n"), "{hidden}");
        assert!(hidden.contains("host:ec2.amazonaws.com\n") && hidden.ends_with("\nhost;x-amz-date'"), "{hidden}");
        let header = "not a valid key=value pair in Authorization header: 'AWS4-HMAC-SHA256 Credential=AKID/20260101/\
                      us-east-1/ec2/aws4_request, SignedHeaders=host, Signature=0123abcdef', é";
        let hidden = redact(header);
        assert!(!hidden.contains("0123abcdef") && !hidden.contains("SignedHeaders"), "{hidden}");
        assert!(hidden.ends_with("(hidden)', é"), "{hidden}");
        let query = "GET /?X-Amz-Signature=0123abcdef&X-Amz-Security-Token=IQoJ%2B&Action=X";
        let hidden = "GET /?X-Amz-Signature=(hidden)&X-Amz-Security-Token=(hidden)&Action=X";
        assert_eq!(redact(query), hidden);
        assert_eq!(redact("Signature expired: 20260101 is earlier"), "Signature expired: 20260101 is earlier");
    }
}
