//! Keeps secrets out of what people and logs are told: AWS quotes the request in some refusals. That of a signature
//! (`SignatureDoesNotMatch`) has the canonical request in it, session token included, that of a malformed one
//! (`IncompleteSignature`) the whole `Authorization` header, and a value of a wrong form is quoted as it is.

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider, future};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// What stands where a secret stood.
const HIDDEN: &str = "(hidden)";

/// A secret key of AWS has 40 characters. Shorter ones are those of emulators, such as `test`, and ordinary words.
const SHORTEST: usize = 16;

/// What is hidden, longest first, in the forms in which it travels: as it is, percent-encoded, in Base64. It belongs to
/// the process, as a message does not know which provider configuration it comes from.
static SECRETS: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// Hides this in all that is told from now on.
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
    // A secret may be a part of another one.
    secrets.sort_by_key(|form| std::cmp::Reverse(form.len()));
}

/// A text without the secrets that are known, and without signatures and tokens, known or not.
pub(crate) fn redact(text: &str) -> String {
    let mut text = Cow::Borrowed(text);
    for secret in SECRETS.read().unwrap_or_else(PoisonError::into_inner).iter() {
        if text.contains(secret.as_str()) {
            text = text.replace(secret.as_str(), HIDDEN).into();
        }
    }
    let text = hide_after(&text, "x-amz-security-token", |it| it.is_whitespace() || "&'\",;".contains(it));
    let text = hide_after(&text, "signature", |it| !it.is_ascii_hexdigit());
    hide_after(&text, "aws4-hmac-sha256 credential", |it| it == '\n' || it == '\'' || it == '"')
}

/// Hides what follows a name in any case and a `:` or `=`, up to where `ends`.
fn hide_after(text: &str, name: &str, ends: impl Fn(char) -> bool) -> String {
    let lower = text.to_ascii_lowercase();
    let (mut shown, mut from) = (String::with_capacity(text.len()), 0);
    while let Some(at) = lower[from..].find(name) {
        let behind = from + at + name.len();
        shown.push_str(&text[from..behind]);
        from = behind;
        let Some(value) = text[behind..].strip_prefix([':', '=']) else { continue };
        let length = value.find(&ends).unwrap_or(value.len());
        if length > 0 {
            shown.push_str(&text[behind..=behind]);
            shown.push_str(HIDDEN);
            from = behind + 1 + length;
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

/// Credentials that are hidden as soon as they are there.
#[derive(Debug)]
pub(crate) struct SecretsRegistered(pub(super) SharedCredentialsProvider);

impl ProvideCredentials for SecretsRegistered {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async {
            let credentials = self.0.provide_credentials().await?;
            register_secret(credentials.secret_access_key());
            credentials.session_token().into_iter().for_each(register_secret);
            Ok(credentials)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_secret_is_hidden_in_every_form_in_which_it_travels() {
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
    fn a_short_word_is_no_secret_of_aws_and_stays_readable() {
        register_secret("test");
        assert_eq!(redact("the test failed"), "the test failed");
    }

    #[test]
    fn what_aws_quotes_of_a_request_is_hidden_and_the_rest_is_kept() {
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
