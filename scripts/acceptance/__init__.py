"""Tests the provider on an AWS account, for `make acceptance` and `make sweep`. `__main__` describes the variables."""
