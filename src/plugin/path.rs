//! Where in a resource or provider block something stands.

/// The way from a block to one attribute or element in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttributePath(pub Vec<Step>);

/// One step of an [`AttributePath`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Into an attribute of an object.
    Attribute(String),
    /// Into an element of a map.
    Key(String),
    /// Into an element of a list, counted from 0.
    Index(i64),
}

impl AttributePath {
    /// The block itself.
    pub fn root() -> AttributePath {
        AttributePath::default()
    }

    /// A top-level attribute.
    pub fn new(attribute: &str) -> AttributePath {
        AttributePath::root().attribute(attribute)
    }

    /// This path and a step into an attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> AttributePath {
        self.step(Step::Attribute(name.to_string()))
    }

    /// This path and a step into a map element.
    #[must_use]
    pub fn key(&self, key: &str) -> AttributePath {
        self.step(Step::Key(key.to_string()))
    }

    /// This path and a step into a list element.
    #[must_use]
    pub fn index(&self, index: usize) -> AttributePath {
        self.step(Step::Index(i64::try_from(index).unwrap_or(i64::MAX)))
    }

    fn step(&self, step: Step) -> AttributePath {
        let mut steps = self.0.clone();
        steps.push(step);
        AttributePath(steps)
    }
}

impl std::fmt::Display for AttributePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Attribute(name) if position == 0 => f.write_str(name)?,
                Step::Attribute(name) => write!(f, ".{name}")?,
                Step::Key(key) => write!(f, "[{key:?}]")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
