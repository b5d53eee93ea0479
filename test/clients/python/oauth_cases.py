"""OAuth clients: Authlib over requests and httpx, requests-oauthlib, httpx-oauth, joserfc."""

import asyncio
import concurrent.futures

import httpx
import requests
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from httpx_oauth.oauth2 import OAuth2
from joserfc import jwk, jwt
from oauthlib.oauth2 import BackendApplicationClient
from requests_oauthlib import OAuth2Session as OauthlibSession

from world import REDIRECT, browse, case, desk, expect, issuer, metadata, parameters, registered, tls

SCOPE = "read write"


def run():
    for method in ("client_secret_basic", "client_secret_post"):
        case("Authlib", f"code with PKCE, refresh, revocation, introspection: {method}", lambda: authlib_code(method))
    case("Authlib", "code with PKCE over httpx", lambda: asyncio.run(authlib_httpx()))
    case("Authlib", "client credentials", authlib_credentials)
    case("Authlib", "private_key_jwt with default settings", lambda: private_key(rsa_key(), PrivateKeyJWT))
    case("Authlib", "private_key_jwt with ES256", lambda: private_key(ec_key(), lambda url: PrivateKeyJWT(url, alg="ES256")))
    case("Authlib", "refresh in two workers with a grace period: both win", lambda: two_workers("graceful", 2))
    case("Authlib", "refresh in two workers: one wins", lambda: two_workers("opaque", 1))
    case("requests-oauthlib", "code with PKCE and refresh", oauthlib_code)
    case("requests-oauthlib", "client credentials", oauthlib_credentials)
    case("httpx-oauth", "code with PKCE, refresh, revocation", lambda: asyncio.run(httpx_oauth()))
    case("joserfc", "JWT validation across a key rotation", rotation)


def use(api, token):
    return requests.get(issuer(api) + "/things", headers={"authorization": f"Bearer {token}"}, timeout=30).status_code


def authlib_session(api, client_id, secret, method="client_secret_basic"):
    session = AuthlibSession(client_id, secret, scope=SCOPE, redirect_uri=REDIRECT, token_endpoint_auth_method=method, code_challenge_method="S256")
    session.metadata["token_endpoint"] = metadata(api)["token_endpoint"]
    return session


def authlib_sign_in(api, session):
    known = metadata(api)
    verifier = "v" * 64
    address, state = session.create_authorization_url(known["authorization_endpoint"], code_verifier=verifier)
    return session.fetch_token(known["token_endpoint"], authorization_response=browse(address), state=state, code_verifier=verifier)


def authlib_code(method):
    known = metadata("opaque")
    session = authlib_session("opaque", *registered("opaque"), method)
    token = authlib_sign_in("opaque", session)
    expect(token["scope"] == SCOPE, token)
    expect(session.get(issuer("opaque") + "/things").status_code == 200, "the API refuses the token")
    following = session.refresh_token(known["token_endpoint"], refresh_token=token["refresh_token"])
    expect(use("opaque", token["access_token"]) == 401, "the token of before the refresh is still good")
    expect(use("opaque", following["access_token"]) == 200, "the refreshed token is refused")
    told = session.introspect_token(known["introspection_endpoint"], token=following["access_token"]).json()
    expect(told["active"] is True and told["scope"] == SCOPE, told)
    expect(session.revoke_token(known["revocation_endpoint"], token=following["access_token"]).status_code == 200, "revocation")
    expect(use("opaque", following["access_token"]) == 401, "a revoked token is still good")


async def authlib_httpx():
    known = metadata("opaque")
    client_id, secret = registered("opaque")
    async with AsyncOAuth2Client(client_id, secret, scope=SCOPE, redirect_uri=REDIRECT, code_challenge_method="S256", verify=tls()) as client:
        address, _ = client.create_authorization_url(known["authorization_endpoint"], code_verifier="v" * 64)
        await client.fetch_token(known["token_endpoint"], authorization_response=browse(address), code_verifier="v" * 64)
        answer = await client.get(issuer("opaque") + "/things")
        expect(answer.status_code == 200, answer.text)


def authlib_credentials():
    session = authlib_session("opaque", *registered("opaque"))
    token = session.fetch_token(metadata("opaque")["token_endpoint"], grant_type="client_credentials")
    expect("refresh_token" not in token, token)
    expect(use("opaque", token["access_token"]) == 200, "the API refuses the token")


def rsa_key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def ec_key():
    return ec.generate_private_key(ec.SECP256R1())


def private_key(key, method):
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    kind = "RSA" if isinstance(key, rsa.RSAPrivateKey) else "EC"
    keys = {"keys": [jwk.import_key(public, kind).as_dict()]}
    client_id, _ = registered("opaque", auth_method="private_key_jwt", jwks=keys)
    url = metadata("opaque")["token_endpoint"]
    # The library reads no PEM but of RSA.
    secret = pem if kind == "RSA" else jwk.import_key(pem, kind)
    session = authlib_session("opaque", client_id, secret, "private_key_jwt")
    session.register_client_auth_method(method(url))
    token = authlib_sign_in("opaque", session)
    following = session.refresh_token(url, refresh_token=token["refresh_token"])
    expect(use("opaque", following["access_token"]) == 200, "the API refuses the token")


def two_workers(api, winners):
    client_id, secret = registered(api)
    token = authlib_sign_in(api, authlib_session(api, client_id, secret))
    url = metadata(api)["token_endpoint"]

    def work(_):
        try:
            return authlib_session(api, client_id, secret).refresh_token(url, refresh_token=token["refresh_token"])
        except OAuthError as error:
            expect(error.error == "invalid_grant", error)
            return None

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        won = [each for each in pool.map(work, range(2)) if each is not None]
    expect(len(won) == winners, f"{len(won)} won")
    if winners == 2:
        expect([use(api, each["access_token"]) for each in won] == [200, 200], "the API refuses a token")


def oauthlib_code():
    known = metadata("opaque")
    client_id, secret = registered("opaque")
    session = OauthlibSession(client_id, redirect_uri=REDIRECT, scope=SCOPE.split(), pkce="S256")
    address, _ = session.authorization_url(known["authorization_endpoint"])
    # The library refuses a redirect URI without TLS, unless it is given the code.
    back = parameters(browse(address))
    token = session.fetch_token(known["token_endpoint"], code=back["code"], client_secret=secret, include_client_id=True)
    expect(token["scope"] == SCOPE.split(), token)
    expect(session.get(issuer("opaque") + "/things").status_code == 200, "the API refuses the token")
    session.refresh_token(known["token_endpoint"], client_id=client_id, client_secret=secret)
    expect(session.get(issuer("opaque") + "/things").status_code == 200, "the API refuses the refreshed token")


def oauthlib_credentials():
    client_id, secret = registered("opaque")
    session = OauthlibSession(client=BackendApplicationClient(client_id=client_id), scope=["read"])
    session.fetch_token(metadata("opaque")["token_endpoint"], client_id=client_id, client_secret=secret)
    expect(session.get(issuer("opaque") + "/things").status_code == 200, "the API refuses the token")


class TrustingOAuth2(OAuth2):
    """Trusts the authority of the run: the library has no setting for it."""

    def get_httpx_client(self):
        return httpx.AsyncClient(verify=tls())


async def httpx_oauth():
    known = metadata("opaque")
    client_id, secret = registered("opaque")
    token = known["token_endpoint"]
    client = TrustingOAuth2(client_id, secret, known["authorization_endpoint"], token, refresh_token_endpoint=token, revoke_token_endpoint=known["revocation_endpoint"], revocation_endpoint_auth_method="client_secret_basic")
    verifier = "v" * 64
    challenge = "w1TpKUdYE9hUAcNSeeSRFioHDxfUxuHho_JHAfZ_vDM"
    address = await client.get_authorization_url(REDIRECT, scope=SCOPE.split(), code_challenge=challenge, code_challenge_method="S256")
    first = await client.get_access_token(parameters(browse(address))["code"], REDIRECT, verifier)
    following = await client.refresh_token(first["refresh_token"])
    expect(use("opaque", following["access_token"]) == 200, "the API refuses the token")
    await client.revoke_token(following["access_token"], "access_token")
    expect(use("opaque", following["access_token"]) == 401, "a revoked token is still good")


def rotation():
    known = metadata("jwt")
    session = authlib_session("jwt", *registered("jwt"))

    def validated():
        token = session.fetch_token(known["token_endpoint"], grant_type="client_credentials")["access_token"]
        keys = jwk.KeySet.import_key_set(requests.get(known["jwks_uri"], timeout=30).json())
        decoded = jwt.decode(token, keys, algorithms=["ES256"])
        jwt.JWTClaimsRegistry(iss={"essential": True, "value": known["issuer"]}, exp={"essential": True}).validate(decoded.claims)
        expect(decoded.header["typ"] == "at+jwt", decoded.header)
        return token

    before = validated()
    desk("/rotate")
    after = validated()
    expect(use("jwt", after) == 200, "the API refuses the token")
    expect(use("jwt", before) == 401, "a token of the retired key is still good")
