//! Log lines on stderr: for Terraform, JSON in the format of the hclog library, and text for people.

use std::collections::BTreeMap;
use std::io::Write;

use time::OffsetDateTime;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

use super::printable::{printable, printable_lines};

/// The longest line, in bytes. Terraform splits longer lines and treats the parts as plain text.
const LONGEST_LINE: usize = 64 * 1024 - 1;

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Format {
    /// For Terraform, which reads the stderr of a provider that it has started.
    Json,
    /// For a person.
    Text,
}

/// The level set in `TF_LOG_PROVIDER_<NAME>`, with the name of this provider, or else in `TF_LOG_PROVIDER`, or else in
/// `TF_LOG`.
pub(super) fn level(name: &str, variable: impl Fn(&str) -> Option<String>) -> LevelFilter {
    let own = format!("TF_LOG_PROVIDER_{}", name.to_ascii_uppercase());
    let given = |name: &str| variable(name).filter(|level| !level.is_empty());
    let Some(level) = [&own, "TF_LOG_PROVIDER", "TF_LOG"].into_iter().find_map(given) else { return LevelFilter::OFF };
    match level.to_ascii_uppercase().as_str() {
        "OFF" => LevelFilter::OFF,
        "ERROR" => LevelFilter::ERROR,
        "WARN" => LevelFilter::WARN,
        "INFO" => LevelFilter::INFO,
        "DEBUG" => LevelFilter::DEBUG,
        // In Terraform, JSON selects all levels in JSON format, and an unknown level means TRACE.
        _ => LevelFilter::TRACE,
    }
}

/// Installs the logging of one crate to stderr. `redact` removes secrets from each text. Does nothing if the level is
/// off.
pub(super) fn write_to_stderr(
    level: LevelFilter,
    format: Format,
    crate_name: &'static str,
    redact: fn(&str) -> String,
) {
    if level == LevelFilter::OFF {
        return;
    }
    let write = |line: &str| {
        // Terraform may have closed stderr. The error is ignored, and work continues.
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    };
    let subscriber = tracing_subscriber::registry().with(LogLines { level, format, crate_name, redact, write });
    // Fails only if the process has already set a subscriber, which then takes precedence.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// A layer that writes the events of one crate as lines. It excludes other crates, which may log requests with
/// credentials.
struct LogLines<W> {
    level: LevelFilter,
    format: Format,
    crate_name: &'static str,
    redact: fn(&str) -> String,
    write: W,
}

/// The fields of an event or span, as text.
#[derive(Clone, Default)]
struct Fields(BTreeMap<String, String>);

impl<W> LogLines<W> {
    fn is_logged(&self, metadata: &Metadata<'_>) -> bool {
        let rest = metadata.target().strip_prefix(self.crate_name);
        *metadata.level() <= self.level && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    }
}

impl<S, W> Layer<S> for LogLines<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: Fn(&str) + 'static,
{
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.is_logged(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        self.is_logged(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        for span in context.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(of_span) = span.extensions().get::<Fields>() {
                fields.0.extend(of_span.0.clone());
            }
        }
        event.record(&mut fields);
        for text in fields.0.values_mut() {
            *text = printable(&(self.redact)(text)).into_owned();
        }
        let (level, module) = (*event.metadata().level(), event.metadata().target());
        (self.write)(&line(self.format, level, module, OffsetDateTime::now_utc(), fields));
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_string(), value.to_string());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.insert(field.name().to_string(), format!("{value:?}"));
    }
}

/// The line of an error that is reported at any log level. Fields without text are left out.
pub(super) fn error_line(
    format: Format,
    module: &str,
    message: &str,
    fields: impl IntoIterator<Item = (&'static str, String)>,
) -> String {
    let escape = match format {
        Format::Json => printable,
        Format::Text => printable_lines,
    };
    let fields = fields.into_iter().filter(|(_, text)| !text.is_empty());
    let fields = fields.chain([("message", message.to_string())]);
    let fields = Fields(fields.map(|(name, text)| (name.to_string(), escape(&text).into_owned())).collect());
    line(format, Level::ERROR, module, OffsetDateTime::now_utc(), fields)
}

/// Formats one line. Long texts are cut until the line is short enough.
fn line(format: Format, level: Level, module: &str, now: OffsetDateTime, mut fields: Fields) -> String {
    let message = fields.0.remove("message").unwrap_or_default();
    // Unless the fraction has exactly six digits, Terraform shows the whole line as raw text.
    let timestamp = format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
        now.year(),
        u8::from(now.month()),
        now.day(),
        now.hour(),
        now.minute(),
        now.second(),
        now.microsecond(),
    );
    if format == Format::Text {
        let fields: String = fields.0.iter().map(|(name, text)| format!(" {name}={text}")).collect();
        return format!("{timestamp} {:5} {module}: {message}{fields}\n", level.as_str());
    }
    let mut longest_text = LONGEST_LINE;
    loop {
        let mut line: BTreeMap<&str, String> =
            fields.0.iter().map(|(name, text)| (name.as_str(), cut(text, longest_text))).collect();
        line.insert("@level", level.as_str().to_ascii_lowercase());
        line.insert("@message", cut(&message, longest_text));
        line.insert("@module", module.replace("::", "."));
        line.insert("@timestamp", timestamp.clone());
        let line = serde_json::json!(line).to_string() + "\n";
        if line.len() <= LONGEST_LINE || longest_text == 0 {
            return line;
        }
        longest_text /= 2;
    }
}

fn cut(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_string();
    }
    let kept = &text[..text.floor_char_boundary(longest)];
    format!("{kept}... ({} bytes cut)", text.len() - kept.len())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    fn logged(level: LevelFilter, work: impl FnOnce()) -> Vec<serde_json::Value> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let seen = lines.clone();
        let write = move |line: &str| seen.lock().unwrap().push(line.to_string());
        let subscriber = tracing_subscriber::registry().with(LogLines {
            level,
            format: Format::Json,
            crate_name: "acme",
            redact: |text| text.replace("sesame", "(hidden)"),
            write,
        });
        tracing::subscriber::with_default(subscriber, work);
        let lines = lines.lock().unwrap();
        lines.iter().map(|line| serde_json::from_str(line.strip_suffix('\n').unwrap()).unwrap()).collect()
    }

    #[test]
    fn a_line_has_level_message_module_time_and_fields() {
        let before = OffsetDateTime::now_utc();
        let lines = logged(LevelFilter::INFO, || {
            let span = tracing::info_span!(target: "acme", "open", door = "front");
            span.in_scope(|| tracing::warn!(target: "acme::lock", tries = 3, key = ?Some(1), "the lock \"sticks\""));
        });
        let [line] = &lines[..] else { panic!("expected one line, got {lines:?}") };
        assert_eq!(line["@level"], "warn");
        assert_eq!(line["@message"], "the lock \"sticks\"");
        assert_eq!(line["@module"], "acme.lock");
        assert_eq!(line["tries"], "3");
        assert_eq!(line["key"], "Some(1)");
        assert_eq!(line["door"], "front");
        let timestamp = line["@timestamp"].as_str().unwrap();
        assert_eq!(timestamp.len(), "2006-01-02T15:04:05.000000Z".len(), "{timestamp}");
        let parsed = OffsetDateTime::parse(timestamp, &time::format_description::well_known::Rfc3339).unwrap();
        // The time has a resolution of one microsecond.
        let before = before - time::Duration::MICROSECOND;
        assert!((before..=OffsetDateTime::now_utc()).contains(&parsed), "{timestamp}");
    }

    #[test]
    fn other_crates_and_lower_levels_are_not_logged() {
        let lines = logged(LevelFilter::INFO, || {
            tracing::debug!(target: "acme", "too fine");
            tracing::error!(target: "acmetools", "another crate with a secret");
            tracing::error!(target: "sdk", "another crate with a secret");
            tracing::info!(target: "acme", "this one");
        });
        assert_eq!(lines.iter().map(|line| &line["@message"]).collect::<Vec<_>>(), ["this one"]);
    }

    #[test]
    fn a_text_cannot_forge_a_line_of_the_log() {
        let lines = logged(LevelFilter::INFO, || {
            tracing::info!(target: "acme", name = "a\u{202e}sesame", "opened\n2026-01-01T00:00:00Z [INFO] closed\u{9b}2K");
        });
        assert_eq!(lines[0]["@message"], "opened\\n2026-01-01T00:00:00Z [INFO] closed\\u{9b}2K");
        assert_eq!(lines[0]["name"], "a\\u{202e}(hidden)");
    }

    #[test]
    fn lines_stay_below_the_length_limit_of_terraform() {
        let long = "\u{1}é".repeat(100_000);
        let lines = logged(LevelFilter::INFO, || tracing::info!(target: "acme", other = long, "{long}"));
        assert!(lines[0].to_string().len() <= LONGEST_LINE);
        assert!(lines[0]["@message"].as_str().unwrap().contains("bytes cut"));
    }

    #[test]
    fn tf_log_provider_takes_precedence_over_tf_log() {
        let level_of = |provider: Option<&str>, general: Option<&str>| {
            let variables = [("TF_LOG", general), ("TF_LOG_PROVIDER", provider)];
            level("acme", |name| variables.iter().find(|it| it.0 == name)?.1.map(str::to_string))
        };
        assert_eq!(level_of(None, None), LevelFilter::OFF);
        assert_eq!(level_of(Some(""), Some("")), LevelFilter::OFF);
        assert_eq!(level_of(None, Some("debug")), LevelFilter::DEBUG);
        assert_eq!(level_of(Some("WARN"), Some("TRACE")), LevelFilter::WARN);
        assert_eq!(level_of(Some("off"), Some("TRACE")), LevelFilter::OFF);
        assert_eq!(level_of(None, Some("JSON")), LevelFilter::TRACE);
        let own = |name: &str| Some(if name == "TF_LOG_PROVIDER_ACME" { "INFO" } else { "TRACE" }.to_string());
        assert_eq!(level("acme", own), LevelFilter::INFO);
    }

    #[test]
    fn a_text_line_is_readable() {
        let now = OffsetDateTime::UNIX_EPOCH;
        let fields = [("message", "opened"), ("door", "front")];
        let fields = Fields(fields.map(|(name, text)| (name.to_string(), text.to_string())).into());
        let text = line(Format::Text, Level::WARN, "acme::lock", now, fields);
        assert_eq!(text, "1970-01-01T00:00:00.000000Z WARN  acme::lock: opened door=front\n");
    }

    #[test]
    fn an_error_line_leaves_out_empty_fields() {
        let fields = [("location", "door.rs:1".to_string()), ("backtrace", String::new())];
        let line = error_line(Format::Json, "acme", "jammed\nhard", fields);
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        let keys: Vec<&String> = line.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["@level", "@message", "@module", "@timestamp", "location"]);
        assert_eq!((&line["@level"], &line["@message"]), (&"error".into(), &"jammed\\nhard".into()));
    }
}
