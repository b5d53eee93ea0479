//! The crates `oauth2` and `openidconnect`.

use crate::world::{Outcome, browse, call, desk, direct, expect, issuer, run, text};
use oauth2::basic::{BasicClient, BasicTokenResponse};
use oauth2::{
    AccessToken, AuthType, AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken, DeviceAuthorizationUrl,
    EndpointSet, IntrospectionUrl, PkceCodeChallenge, RedirectUrl, RefreshToken, RevocationUrl, Scope, StandardDeviceAuthorizationResponse,
    StandardRevocableToken, TokenIntrospectionResponse, TokenResponse, TokenUrl,
};
use openidconnect::core::{CoreClient, CoreProviderMetadata, CoreResponseType};
use openidconnect::{AuthenticationFlow, IssuerUrl, Nonce};
use serde_json::json;

const NAME: &str = "oauth2";
const OPENID: &str = "openidconnect";

pub async fn cases() {
    for (name, style) in [("header", AuthType::BasicAuth), ("form", AuthType::RequestBody)] {
        run(NAME, &format!("code with PKCE, refresh, introspection, revocation, secret: {name}"), code_flow(style)).await;
    }
    run(NAME, "client credentials", client_credentials()).await;
    run(NAME, "refresh in two workers: one wins", two_workers("opaque", 1)).await;
    run(NAME, "refresh in two workers with a grace period: both win", two_workers("graceful", 2)).await;
    run(NAME, "device", device()).await;
    run(OPENID, "discovery and code with PKCE", discovered()).await;
}

type Client = oauth2::basic::BasicClient<EndpointSet, EndpointSet, EndpointSet, EndpointSet, EndpointSet>;

async fn registered(api: &str) -> Outcome<(ClientId, ClientSecret)> {
    let made = desk(&format!("/clients/{api}"), json!({})).await?;
    let member = |name: &str| made[name].as_str().unwrap_or_default().to_owned();
    Ok((ClientId::new(member("client_id")), ClientSecret::new(member("client_secret"))))
}

async fn client(api: &str, style: AuthType) -> Outcome<Client> {
    let (id, secret) = registered(api).await?;
    let at = |endpoint: &str| format!("{}/oauth/{endpoint}", issuer(api));
    Ok(BasicClient::new(id)
        .set_client_secret(secret)
        .set_auth_type(style)
        .set_auth_uri(AuthUrl::new(at("authorize"))?)
        .set_token_uri(TokenUrl::new(at("token"))?)
        .set_device_authorization_url(DeviceAuthorizationUrl::new(at("device_authorization"))?)
        .set_introspection_url(IntrospectionUrl::new(at("introspect"))?)
        .set_revocation_url(RevocationUrl::new(at("revoke"))?)
        .set_redirect_uri(RedirectUrl::new(text("redirect"))?))
}

async fn signed_in(client: &Client) -> Outcome<BasicTokenResponse> {
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (address, state) = client
        .authorize_url(CsrfToken::new_random)
        .add_scopes(["read", "write"].map(|scope| Scope::new(scope.to_owned())))
        .set_pkce_challenge(challenge)
        .url();
    let back = browse(address.as_str()).await?;
    expect(back.get("state") == Some(state.secret()), &back)?;
    let code = AuthorizationCode::new(back.get("code").cloned().unwrap_or_default());
    Ok(client.exchange_code(code).set_pkce_verifier(verifier).request_async(&direct()).await?)
}

async fn is_active(client: &Client, token: &AccessToken) -> Outcome<bool> {
    Ok(client.introspect(token).request_async(&direct()).await?.active())
}

async fn code_flow(style: AuthType) -> Outcome {
    let client = client("opaque", style).await?;
    let first = signed_in(&client).await?;
    let refresh = first.refresh_token().ok_or("no refresh token")?;
    let second = client.exchange_refresh_token(refresh).request_async(&direct()).await?;
    let token = second.access_token();
    expect(call("opaque", first.access_token().secret()).await? == 401, "the token of before the refresh is still good")?;
    expect(call("opaque", token.secret()).await? == 200, "the API refuses the token")?;
    expect(is_active(&client, token).await?, "introspection knows no token")?;
    client.revoke_token(StandardRevocableToken::AccessToken(token.clone()))?.request_async(&direct()).await?;
    expect(!is_active(&client, token).await?, "introspection knows a revoked token")
}

async fn client_credentials() -> Outcome {
    let client = client("opaque", AuthType::BasicAuth).await?;
    let tokens = client.exchange_client_credentials().add_scope(Scope::new("read".into())).request_async(&direct()).await?;
    expect(call("opaque", tokens.access_token().secret()).await? == 200, "the API refuses the token")
}

async fn two_workers(api: &str, winners: usize) -> Outcome {
    let client = client(api, AuthType::BasicAuth).await?;
    let tokens = signed_in(&client).await?;
    let token = tokens.refresh_token().ok_or("no refresh token")?;
    let work = |token: RefreshToken| {
        let client = client.clone();
        tokio::spawn(async move { client.exchange_refresh_token(&token).request_async(&direct()).await })
    };
    let mut won = 0;
    for worker in [work(token.clone()), work(token.clone())] {
        match worker.await? {
            Ok(next) if winners == 2 => {
                won += 1;
                expect(call(api, next.access_token().secret()).await? == 200, "the API refuses a token")?;
            }
            Ok(_) => won += 1,
            Err(error) => expect(format!("{error:?}").contains("invalid_grant") || format!("{error:?}").contains("InvalidGrant"), error)?,
        }
    }
    expect(won == winners, format!("{won} won"))
}

async fn device() -> Outcome {
    let client = client("opaque", AuthType::BasicAuth).await?;
    let asked: StandardDeviceAuthorizationResponse =
        client.exchange_device_code().add_scope(Scope::new("read".into())).request_async(&direct()).await?;
    desk(&format!("/device/opaque?user_code={}", asked.user_code().secret()), json!({})).await?;
    let tokens = client.exchange_device_access_token(&asked).request_async(&direct(), tokio::time::sleep, None).await?;
    expect(call("opaque", tokens.access_token().secret()).await? == 200, "the API refuses the token")
}

async fn discovered() -> Outcome {
    let http = direct();
    let known = CoreProviderMetadata::discover_async(IssuerUrl::new(issuer("jwt"))?, &http).await?;
    expect(!known.jwks().keys().is_empty(), "no keys")?;
    let (id, secret) = registered("jwt").await?;
    // The scope `openid` asks for an ID token, which an authorization server does not issue.
    let client = CoreClient::from_provider_metadata(known, id, Some(secret))
        .set_redirect_uri(RedirectUrl::new(text("redirect"))?)
        .disable_openid_scope();
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (address, _, _) = client
        .authorize_url(AuthenticationFlow::<CoreResponseType>::AuthorizationCode, CsrfToken::new_random, Nonce::new_random)
        .set_pkce_challenge(challenge)
        .url();
    let back = browse(address.as_str()).await?;
    let code = AuthorizationCode::new(back.get("code").cloned().unwrap_or_default());
    let tokens = client.exchange_code(code)?.set_pkce_verifier(verifier).request_async(&http).await?;
    expect(call("jwt", tokens.access_token().secret()).await? == 200, "the API refuses the token")
}
