//! Paths of attributes in a resource or provider block.

/// The path from a block to one of its attributes or elements.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttributePath(pub Vec<Step>);

/// One step of an [`AttributePath`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// To an attribute of an object.
    Attribute(String),
    /// To an element of a map.
    Key(String),
    /// To an element of a list, counted from 0.
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

    /// This path extended by an attribute of an object.
    #[must_use]
    pub fn attribute(&self, name: &str) -> AttributePath {
        self.step(Step::Attribute(name.to_string()))
    }

    /// This path extended by an element of a map.
    #[must_use]
    pub fn key(&self, key: &str) -> AttributePath {
        self.step(Step::Key(key.to_string()))
    }

    /// This path extended by an element of a list, counted from 0.
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
