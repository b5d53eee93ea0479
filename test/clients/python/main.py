"""Programs of Python's HTTP, WebSocket and OAuth clients against a running product."""

import http_cases
import mcp_cases
import oauth_cases
import socket_cases

http_cases.run()
socket_cases.run()
oauth_cases.run()
mcp_cases.run()
