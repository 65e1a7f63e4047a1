//! The subset of XML that AWS's query protocols use: elements and text, without relevant attributes.

use std::fmt::{self, Display, Formatter};

/// An element. AWS never mixes text and children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) name: String,
    /// Attributes as written, with the leading space: the namespace of the root.
    attributes: String,
    pub(crate) text: String,
    pub(crate) children: Vec<Element>,
}

impl Element {
    /// The root element of a document. An error states what is wrong, and where.
    pub(crate) fn parse(document: &str) -> Result<Self, String> {
        let body = match document.find("?>") {
            Some(end) if document.trim_start().starts_with("<?xml") => &document[end + 2..],
            _ => document,
        };
        let (root, _) = element(body.trim_start())?;
        Ok(root)
    }

    pub(crate) fn leaf(name: &str, text: &str) -> Self {
        Self { name: name.into(), text: text.into(), ..Self::default() }
    }

    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    pub(crate) fn child_mut(&mut self, name: &str) -> Option<&mut Self> {
        self.children.iter_mut().find(|child| child.name == name)
    }

    /// The text of a child, or an empty string.
    pub(crate) fn text_of(&self, name: &str) -> &str {
        self.child(name).map_or("", |child| child.text.as_str())
    }

    /// Replaces the text of a child, or adds the child.
    pub(crate) fn set(&mut self, name: &str, text: &str) {
        match self.child_mut(name) {
            Some(child) => child.text = text.into(),
            None => self.children.push(Self::leaf(name, text)),
        }
    }

    /// The items of a list: the children of the child of that name.
    pub(crate) fn items(&self, name: &str) -> &[Self] {
        self.child(name).map_or(&[], |list| &list.children)
    }

    pub(crate) fn items_mut(&mut self, name: &str) -> &mut [Self] {
        self.child_mut(name).map_or(&mut [], |list| &mut list.children)
    }
}

impl Display for Element {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "<{}{}>{}", self.name, self.attributes, escape(&self.text))?;
        for child in &self.children {
            child.fmt(out)?;
        }
        write!(out, "</{}>", self.name)
    }
}

pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn unescape(text: &str) -> String {
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#34;", "\"");
    plain.replace("&#39;", "'").replace("&apos;", "'").replace("&amp;", "&")
}

/// Parses the element at the start of `rest`. Returns it and the text after it.
fn element(rest: &str) -> Result<(Element, &str), String> {
    let unexpected = |rest: &str| format!("not an element: {}", rest.chars().take(60).collect::<String>());
    let inside = rest.strip_prefix('<').ok_or_else(|| unexpected(rest))?;
    let (tag, mut rest) = inside.split_once('>').ok_or_else(|| unexpected(rest))?;
    let (tag, empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
    let split = tag.find(char::is_whitespace).unwrap_or(tag.len());
    let mut parsed =
        Element { name: tag[..split].into(), attributes: tag[split..].trim_end().into(), ..Element::default() };
    if empty {
        return Ok((parsed, rest));
    }
    loop {
        let next = rest.find('<').ok_or_else(|| format!("<{}> does not end", parsed.name))?;
        let text = &rest[..next];
        rest = &rest[next..];
        if let Some(end) = rest.strip_prefix("</") {
            if parsed.children.is_empty() {
                parsed.text = unescape(text);
            }
            let (_, after) = end.split_once('>').ok_or_else(|| unexpected(rest))?;
            return Ok((parsed, after));
        }
        let (child, after) = element(rest)?;
        parsed.children.push(child);
        rest = after;
    }
}
