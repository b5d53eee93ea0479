//! Helpers of the programs: each case prints a line of JSON; the runner in ../runner says what the world file holds.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::future::Future;
use std::sync::LazyLock;
use std::time::Duration;

pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const CASE_TIMEOUT: Duration = Duration::from_secs(60);

static WORLD: LazyLock<Value> = LazyLock::new(|| {
    let path = std::env::var("CLIENTS_WORLD").expect("CLIENTS_WORLD");
    let text = std::fs::read_to_string(path).expect("the world file");
    serde_json::from_str(&text).expect("JSON")
});

pub fn text(member: &str) -> String {
    WORLD[member].as_str().unwrap_or_default().to_owned()
}

pub fn number(member: &str) -> u64 {
    WORLD[member].as_u64().unwrap_or_default()
}

pub fn issuer(api: &str) -> String {
    format!("{}/{api}", text("https"))
}

/// Runs a case and prints how it ended.
pub async fn run(client: &str, flow: &str, act: impl Future<Output = Outcome>) {
    let mut line = json!({"client": client, "flow": flow});
    match tokio::time::timeout(CASE_TIMEOUT, act).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => line["failed"] = format!("{error}; {error:?}").into(),
        Err(_) => line["failed"] = "took too long".into(),
    }
    println!("{line}");
}

pub fn expect(condition: bool, told: impl std::fmt::Debug) -> Outcome {
    if condition { Ok(()) } else { Err(format!("{told:?}").into()) }
}

/// Trusts the authority of the run, and nothing else.
pub fn trusting() -> reqwest::ClientBuilder {
    let pem = std::fs::read(text("ca")).expect("the authority");
    let authority = reqwest::Certificate::from_pem(&pem).expect("a certificate");
    reqwest::Client::builder().tls_built_in_root_certs(false).add_root_certificate(authority)
}

/// The client of the OAuth libraries: they want one that follows no redirects.
pub fn direct() -> reqwest::Client {
    trusting().redirect(reqwest::redirect::Policy::none()).build().expect("a client")
}

/// Asks the desk, and answers the members that it sent.
pub async fn desk(path: &str, body: Value) -> Outcome<Value> {
    let answer = direct().post(text("desk") + path).json(&body).send().await?.error_for_status()?;
    Ok(serde_json::from_str(&answer.text().await?).unwrap_or(Value::Null))
}

/// A browser whose user signs in and agrees. Answers the parameters that come back to the client.
pub async fn browse(address: &str) -> Outcome<HashMap<String, String>> {
    let answer = trusting().build()?.get(address).send().await?;
    let end = answer.url().clone();
    if !end.as_str().starts_with(&text("redirect")) {
        return Err(format!("the browser ended at {end}: {}", answer.text().await?).into());
    }
    Ok(end.query_pairs().into_owned().collect())
}

/// The status of a call of the protected API.
pub async fn call(api: &str, token: &str) -> Outcome<u16> {
    let answer = direct().get(issuer(api) + "/things").bearer_auth(token).send().await?;
    Ok(answer.status().as_u16())
}
