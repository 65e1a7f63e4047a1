"""The provider for a script: an existing binary or a new build, and the configuration that makes Terraform use it."""

import json
import os
import pathlib

from processes import ROOT, Failed


def existing(path):
    """The binary in FGW_BINARY."""
    binary = pathlib.Path(path).resolve()
    if not os.access(binary, os.X_OK) or binary.is_dir():
        raise Failed(f"FGW_BINARY is {path}, which is not an executable file.")
    return binary


def build(children):
    """Builds the provider, and returns its binary."""
    options = {"quiet_streams": True, "cwd": ROOT}
    command = ["cargo", "build", "--locked", "--bin", "terraform-provider-fgw"]
    code, _ = children.run(command, 3600, **options)
    if code != 0:
        raise Failed("cargo could not build the provider; see its output above.")
    metadata = ["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"]
    code, text = children.run(metadata, 60, **options)
    if code != 0:
        raise Failed("cargo metadata failed; see its output above.")
    return pathlib.Path(json.loads(text)["target_directory"]) / "debug/terraform-provider-fgw"


def install(binary, directory):
    """Writes `terraform.rc` into an existing directory, and returns its path. With `dev_overrides`, Terraform needs no
    registry and no init."""
    plugins = directory / "plugins"
    plugins.mkdir()
    (plugins / "terraform-provider-fgw").symlink_to(binary)
    config = directory / "terraform.rc"
    config.write_text(
        "provider_installation {\n"
        f'  dev_overrides {{\n    "fgw/fgw" = {json.dumps(str(plugins))}\n  }}\n'
        "  direct {}\n}\n"
    )
    return config
