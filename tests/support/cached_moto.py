"""Starts moto. Two of its functions compute the same result for every request, which takes a seventh of its CPU time."""

import functools
import sys

from moto import backends
from moto.core import responses, utils
from moto.server import main

modules = tuple(backends.list_of_moto_modules())
backends.list_of_moto_modules = lambda: modules
responses.method_names_from_class = functools.cache(utils.method_names_from_class)

main(sys.argv[1:])
