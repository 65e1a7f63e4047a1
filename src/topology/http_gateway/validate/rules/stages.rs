//! Rules for the stage.

use super::*;

pub(super) fn stages() -> Vec<Rule> {
    let name = |name: &str| json!({"stage_name": name});
    let variable = |name: &str, value: &str| json!({"stage_variables": {name: value}});
    let many = |count: usize| -> Json { (0..count).map(|it| (format!("v{it}"), Json::from("x"))).collect() };
    vec![
        ("a stage has a name", name(""), &["stage_name"], &["0 characters"], name("v")),
        ("a stage name has at most 128 characters", name(&"a".repeat(129)), &["stage_name"], &["129", "128"], {
            name(&"a".repeat(128))
        }),
        ("a stage name has only allowed characters", name("v1.2"), &["stage_name"], &["\"v1.2\"", "'.'"], {
            name("v1_2-A")
        }),
        ("only $default begins with $", name("$prod"), &["stage_name"], &["\"$prod\"", "'$'"], name("$default")),
        (
            "a description of a stage is not empty",
            json!({"stage_description": ""}),
            &["stage_description"],
            &["0 characters", "1 to 1024"],
            json!({"stage_description": "x".repeat(1024)}),
        ),
        ("the name of a variable is not empty", variable("", "x"), &["stage_variables[\"\"]"], &["0 characters"], {
            variable("a", "x")
        }),
        (
            "the name of a variable has at most 64 characters",
            json!({"stage_variables": {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": "x"}}),
            &["stage_variables[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"]"],
            &["65", "64"],
            variable(&"a".repeat(64), "x"),
        ),
        (
            "the name of a variable has only allowed characters",
            variable("a-b", "x"),
            &["stage_variables[\"a-b\"]"],
            &["\"a-b\"", "'-'"],
            variable("a_B1", "x"),
        ),
        (
            "an empty variable does not exist",
            variable("a", ""),
            &["stage_variables[\"a\"]"],
            &["0 characters", "1 to 512"],
            variable("a", &"x".repeat(512)),
        ),
        (
            "the value of a variable has at most 512 characters",
            variable("a", &"x".repeat(513)),
            &["stage_variables[\"a\"]"],
            &["513", "512"],
            variable("a", UNKNOWN),
        ),
        (
            "the value of a variable has only allowed characters",
            variable("a", "b c"),
            &["stage_variables[\"a\"]"],
            &["' '"],
            variable("a", "Az09-._~:/?#&=,"),
        ),
        (
            "a stage has at most 100 variables",
            json!({"stage_variables": many(101)}),
            &["stage_variables"],
            &["101", "100"],
            json!({"stage_variables": many(100)}),
        ),
    ]
}
