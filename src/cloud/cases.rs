//! The cases of the guide "When something goes wrong" that errors name.

/// A section of the guide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// A create failed.
    CreateFails,
    /// An update failed.
    UpdateFails,
    /// A destroy failed.
    DestroyFails,
    /// A create was killed.
    CreateIsKilled,
    /// The credentials belong to another account than the one in state.
    AnotherAccount,
    /// The endpoint of GuardDuty blocks a deletion.
    GuardDuty,
    /// The network interfaces of a Lambda function block a deletion.
    LambdaInterfaces,
    /// An interface endpoint requires the gateway endpoint for S3.
    S3Endpoint,
    /// The credentials do not allow a call.
    PermissionMissing,
    /// The resource policy for log delivery is full, or may not be changed.
    AccessLogs,
    /// An API has as many objects as AWS allows.
    QuotaExceeded,
    /// The deletion protection of a log group is enabled.
    LogGroupProtected,
    /// The answer of a call was lost.
    ConnectionLost,
}

impl Case {
    #[cfg(test)]
    const ALL: [Case; 13] = [
        Case::CreateFails,
        Case::UpdateFails,
        Case::DestroyFails,
        Case::CreateIsKilled,
        Case::AnotherAccount,
        Case::GuardDuty,
        Case::LambdaInterfaces,
        Case::S3Endpoint,
        Case::PermissionMissing,
        Case::AccessLogs,
        Case::QuotaExceeded,
        Case::LogGroupProtected,
        Case::ConnectionLost,
    ];

    /// The anchor of the section.
    fn anchor(self) -> &'static str {
        match self {
            Case::CreateFails => "a-create-fails",
            Case::UpdateFails => "an-update-fails",
            Case::DestroyFails => "a-destroy-fails",
            Case::CreateIsKilled => "a-create-is-killed",
            Case::AnotherAccount => "the-provider-uses-another-account",
            Case::GuardDuty => "guardduty-blocks-a-deletion",
            Case::LambdaInterfaces => "network-interfaces-of-lambda-block-a-deletion",
            Case::S3Endpoint => "the-s3-endpoint-is-not-deleted",
            Case::PermissionMissing => "a-permission-is-missing",
            Case::AccessLogs => "access-logs-cannot-be-enabled",
            Case::QuotaExceeded => "a-quota-of-the-api-is-exceeded",
            Case::LogGroupProtected => "a-log-group-has-deletion-protection",
            Case::ConnectionLost => "a-connection-is-lost",
        }
    }

    /// The last line of a detail.
    pub fn see(self) -> String {
        format!("\n\nGuide: when-something-goes-wrong#{}", self.anchor())
    }
}

#[test]
fn every_case_is_a_section_of_the_guide() {
    let guide = include_str!("../../docs/guides/when-something-goes-wrong.md");
    let headings = guide.lines().filter(|line| line.starts_with('#'));
    let anchors: Vec<String> =
        headings.map(|line| line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-")).collect();
    for case in Case::ALL {
        assert!(anchors.iter().any(|it| it == case.anchor()), "{case:?}: no section {}", case.anchor());
    }
}
