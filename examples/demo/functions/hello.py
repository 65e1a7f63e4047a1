"""Responds to requests of an HTTP API with their method and path, in payload format 2.0."""

import json


def handler(event, context):
    http = event["requestContext"]["http"]
    caller = event["requestContext"].get("authorizer", {}).get("lambda", {}).get("caller")
    answer = {"message": f"Hello {caller or 'world'}", "method": http["method"], "path": http["path"]}
    return {
        "statusCode": 200,
        "headers": {"content-type": "application/json"},
        "body": json.dumps(answer),
    }
