"""A request authorizer in payload format 2.0 with simple responses.

A real authorizer would verify a signed token. This one accepts a single, public token.
"""

TOKEN = "Bearer open-sesame"


def handler(event, context):
    headers = {name.lower(): value for name, value in event.get("headers", {}).items()}
    return {"isAuthorized": headers.get("authorization") == TOKEN, "context": {"caller": "Ali Baba"}}
