//! The cases of the guide "When something goes wrong" that errors name.

/// A section of the guide.
#[derive(Clone, Copy, Debug)]
pub(super) enum Case {
    CreateFails,
    UpdateFails,
    DestroyFails,
    CreateIsKilled,
    AnotherAccount,
}

impl Case {
    #[cfg(test)]
    const ALL: [Case; 5] =
        [Case::CreateFails, Case::UpdateFails, Case::DestroyFails, Case::CreateIsKilled, Case::AnotherAccount];

    /// The anchor of the section.
    fn anchor(self) -> &'static str {
        match self {
            Case::CreateFails => "a-create-fails",
            Case::UpdateFails => "an-update-fails",
            Case::DestroyFails => "a-destroy-fails",
            Case::CreateIsKilled => "a-create-is-killed",
            Case::AnotherAccount => "the-provider-uses-another-account",
        }
    }

    /// The last line of a detail.
    pub(super) fn see(self) -> String {
        format!("\n\nGuide: when-something-goes-wrong#{}", self.anchor())
    }
}

#[test]
fn every_case_is_a_section_of_the_guide() {
    let guide = include_str!("../../../docs/guides/when-something-goes-wrong.md");
    let headings = guide.lines().filter(|line| line.starts_with('#'));
    let anchors: Vec<String> =
        headings.map(|line| line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-")).collect();
    for case in Case::ALL {
        assert!(anchors.iter().any(|it| it == case.anchor()), "{case:?}: no section {}", case.anchor());
    }
}
