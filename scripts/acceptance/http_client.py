"""Requests to a gateway, on AWS and on an emulator."""

import collections
import http.client
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

PAUSE = 0.1


def call(run, url, headers=None):
    """The status and the body; for a failure of the connection, 0 and the reason."""
    address, headers = urllib.parse.urlsplit(url), dict(headers or {})
    if run.account.is_emulator:
        return call_emulator(run, address, headers)
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as answer:
            return answer.status, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return 0, str(error)


def call_emulator(run, address, headers):
    """Not every resolver supports *.localhost. The emulator takes the account from the credential."""
    access_key = run.account.session.get_credentials().access_key
    scope = f"Credential={access_key}/20260101/{run.account.region}/execute-api/aws4_request"
    headers |= {"Host": address.netloc, "Authorization": f"AWS4-HMAC-SHA256 {scope}, Signature=0"}
    connection = http.client.HTTPConnection("127.0.0.1", address.port or 80, timeout=30)
    try:
        connection.request("GET", address.path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return 0, str(error)
    finally:
        connection.close()


class Load:
    """Calls a URL repeatedly while its block runs, and counts the answers by status."""

    def __init__(self, run, url):
        self.run = run
        self.url = url
        self.statuses = collections.Counter()
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.send, daemon=True)

    @property
    def total(self):
        return sum(self.statuses.values())

    def send(self):
        while not self.stopped.is_set():
            self.statuses[str(call(self.run, self.url)[0])] += 1
            time.sleep(PAUSE)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()
