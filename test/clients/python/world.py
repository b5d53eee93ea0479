"""Helpers of the programs: each case prints a line of JSON; the runner in ../runner says what the world file holds."""

import json
import os
import ssl
import sys
import traceback
import urllib.parse

import requests

with open(os.environ["CLIENTS_WORLD"], encoding="utf-8") as file:
    WORLD = json.load(file)

HTTP, HTTPS, CA = WORLD["http"], WORLD["https"], WORLD["ca"]
REDIRECT = WORLD["redirect"]
# It wins over what a session of requests is told to trust, so a machine that sets it would fail every case.
os.environ["REQUESTS_CA_BUNDLE"] = CA


def case(client, flow, act):
    """Runs a case and prints how it ended."""
    line = {"client": client, "flow": flow}
    try:
        act()
    except Exception as error:
        where = traceback.extract_tb(sys.exc_info()[2])[-1]
        line["failed"] = f"{type(error).__name__}: {error} ({where.filename}:{where.lineno})"
    print(json.dumps(line), flush=True)


def expect(condition, told):
    """Fails the case with what is told."""
    if not condition:
        raise AssertionError(told)


def tls():
    """Trusts the authority of the run, and nothing else."""
    return ssl.create_default_context(cafile=CA)


def issuer(api):
    return f"{HTTPS}/{api}"


def metadata(api):
    return requests.get(issuer(api) + "/.well-known/oauth-authorization-server", timeout=30).json()


def desk(path, body=None):
    """Asks the desk, and answers the members that it sent."""
    answer = requests.post(WORLD["desk"] + path, json=body, timeout=30)
    expect(answer.status_code == 200, f"the desk answered {answer.status_code}: {answer.text}")
    return answer.json() if answer.text.startswith("{") else {}


def registered(api, **fields):
    """Registers a client, more members as the administration API takes them. Answers its id and secret."""
    made = desk("/clients/" + api, fields)
    return made["client_id"], made["client_secret"]


def browse(address):
    """A browser whose user signs in and agrees. Answers the address that it comes back to."""
    answer = requests.get(address, timeout=30)
    expect(answer.url.startswith(REDIRECT), f"the browser ended at {answer.url}: {answer.text}")
    return answer.url


def parameters(address):
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(address).query))
