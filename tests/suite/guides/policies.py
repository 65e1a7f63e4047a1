"""Runs a policy on a plan: prints the sorted texts that it reports as a JSON list.

Reads a JSON object with "language" (jq or rego), "policy" and "plan" from standard input.
"""

import json
import sys

request = json.load(sys.stdin)
if request["language"] == "jq":
    import jq

    found = jq.compile(request["policy"]).input_value(request["plan"]).all()
else:
    from regopy import Interpreter

    interpreter = Interpreter()
    interpreter.add_module("policy", request["policy"])
    interpreter.set_input(request["plan"])
    answer = json.loads(str(interpreter.query("data.terraform.fgw.deny")))
    found = answer["expressions"][0]
print(json.dumps(sorted(found)))
